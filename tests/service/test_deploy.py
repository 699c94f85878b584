"""The files of `deploy/`, as far as they can be looked at without a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml
from ray._common.utils import import_attr
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.serve.schema import ServeDeploySchema

from cluster.java import OPENED
from cluster.service import edge
from cluster.service.settings import ServiceSettings
from cluster.settings import Settings
from connectors.errors import InputError

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def manifests() -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / "rayservice.yaml").read_text()))


def configs() -> dict[str, Any]:
    return {
        "serve deploy": yaml.safe_load((DEPLOY / "service.yaml").read_text()),
        "KubeRay": yaml.safe_load(manifests()[1]["spec"]["serveConfigV2"]),
    }


@pytest.mark.parametrize("name", configs())
def test_serve_knows_what_to_deploy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELSINORE_SERVICE_DATA", str(tmp_path))
    monkeypatch.setenv("ELSINORE_SERVICE_TOKEN", "a token")
    found = ServeDeploySchema.model_validate(configs()[name])
    [application] = found.applications
    builder = import_attr(application.import_path)
    made = builder({})
    deployment = made._bound_deployment
    assert [one.name for one in application.deployments] == [deployment.name]
    assert deployment.init_args[0].data == tmp_path


def test_without_a_token_nothing_is_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELSINORE_SERVICE_TOKEN", raising=False)
    with pytest.raises(InputError, match="ELSINORE_SERVICE_TOKEN"):
        import_attr("cluster.service.app:app")({})


def test_both_ways_deploy_the_same() -> None:
    one, other = configs().values()
    assert one == other


def test_kuberay_finds_what_it_needs() -> None:
    claim, service = manifests()
    assert service["kind"] == "RayService"
    cluster = service["spec"]["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for spec in (group["template"]["spec"] for group in groups):
        [container] = spec["containers"]
        assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert container["volumeMounts"][0]["mountPath"] == variable("ELSINORE_SERVICE_DATA")
        for setting in (one["name"] for one in container["env"]):
            known(setting)
    assert cluster["rayVersion"] == ray.__version__


def known(variable_: str) -> None:
    prefix, fields = (
        ("ELSINORE_SERVICE_", ServiceSettings.model_fields)
        if variable_.startswith("ELSINORE_SERVICE_")
        else ("ELSINORE_", Settings.model_fields)
    )
    assert variable_.removeprefix(prefix).lower() in fields


def test_ray_up_can_read_its_file() -> None:
    config = yaml.safe_load((DEPLOY / "cluster.yaml").read_text())
    validate_config(prepare_config(config))
    for here in config["file_mounts"].values():
        assert (ROOT / here).is_file()


def test_the_image_is_made_of_what_there_is() -> None:
    for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    packages = set(re.findall(r"^COPY (\w+) \./\w+$", DOCKERFILE, re.MULTILINE))
    assert packages == {"elsinore", "planner", "actors", "connectors", "cluster"}


def test_the_image_has_the_environment_of_every_process() -> None:
    assert variable("JDK_JAVA_OPTIONS").split() == [f"--add-opens={one}=ALL-UNNAMED" for one in OPENED]
    assert variable(edge.CALLBACK) == edge.IMPORT_PATH
    assert import_attr(edge.IMPORT_PATH) is edge.middlewares


def variable(name: str) -> str:
    found = re.search(rf'^ENV {name}="?([^"\n]*)"?$', DOCKERFILE, re.MULTILINE)
    assert found is not None
    return found[1]

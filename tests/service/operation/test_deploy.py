"""The files of `deploy/`, as far as they can be checked without a cluster."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ray._common.utils import import_attr
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.serve.schema import ServeDeploySchema

from elsinore.cluster.machines.java import OPENED_PACKAGES
from elsinore.cluster.machines.raydp_gateway import SECRET_VARIABLE
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web import edge
from elsinore.connectors.errors import InputError

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


TOOLS = {"pytest", "locust", "flask", "schemathesis", "hypothesis", "mypy", "ruff", "hatchling", "matplotlib"}
"""Packages that tests and builds need, and a service does not."""


@cache
def manifests() -> dict[str, Any]:
    """Return the documents of the file for KubeRay, by kind."""
    return {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "rayservice.yaml").read_text())}


def groups() -> list[dict[str, Any]]:
    cluster = manifests()["RayService"]["spec"]["rayClusterConfig"]
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


def run_options() -> list[str]:
    return yaml.safe_load((DEPLOY / "cluster.yaml").read_text())["docker"]["run_options"]


def configs() -> dict[str, Any]:
    return {
        "serve deploy": yaml.safe_load((DEPLOY / "service.yaml").read_text()),
        "KubeRay": yaml.safe_load(manifests()["RayService"]["spec"]["serveConfigV2"]),
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
        import_attr("elsinore.cluster.service.app:app")({})


def test_both_ways_deploy_the_same() -> None:
    one, other = configs().values()
    assert one == other


def test_kuberay_finds_what_it_needs() -> None:
    claim, service = manifests()["PersistentVolumeClaim"], manifests()["RayService"]
    for spec in (group["template"]["spec"] for group in groups()):
        [container] = spec["containers"]
        assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert container["volumeMounts"][0]["mountPath"] == variable("ELSINORE_SERVICE_DATA")
        assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in spec["volumes"]}
        for setting in (one["name"] for one in container["env"]):
            known(setting)
    assert service["spec"]["rayClusterConfig"]["rayVersion"] == ray.__version__


def test_rays_and_sparks_ports_ask_for_secrets_of_every_node() -> None:
    service = manifests()["RayService"]
    assert service["spec"]["rayClusterConfig"]["authOptions"] == {"mode": "token", "secretName": "elsinore"}
    for group in groups():
        [container] = group["template"]["spec"]["containers"]
        found = {one["name"]: one for one in container["env"]}
        for name in ("ELSINORE_SERVICE_TOKEN", SECRET_VARIABLE):
            assert found[name]["valueFrom"]["secretKeyRef"]["name"] == "elsinore"
    assert variable("RAY_AUTH_MODE") == "token"
    passed = {one.removeprefix("--env=") for one in run_options() if one.startswith("--env=")}
    assert passed == {"ELSINORE_SERVICE_TOKEN", "RAY_AUTH_MODE=token", "RAY_AUTH_TOKEN", SECRET_VARIABLE}


def test_no_port_but_the_services_is_open_to_clients() -> None:
    policy = manifests()["NetworkPolicy"]["spec"]
    labels = policy["podSelector"]["matchLabels"]
    assert all(labels.items() <= group["template"]["metadata"]["labels"].items() for group in groups())
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    opened: dict[int, set[str]] = {}
    for rule in policy["ingress"]:
        [source] = rule["from"]
        if "ports" not in rule:
            assert source == {"podSelector": {"matchLabels": labels}}, "all ports are open among the pods alone"
            continue
        for port in rule["ports"]:
            opened.setdefault(port["port"], set()).add(json.dumps(source))
    operator = json.dumps(policy["ingress"][-1]["from"][0])
    assert "kuberay-operator" in operator
    assert set(opened) == {8000, 8080, 8265, 52365}
    assert opened[8265] == opened[52365] == {operator}
    assert all(rule.get("to") for rule in policy["egress"])
    head = yaml.safe_load((DEPLOY / "cluster.yaml").read_text())["head_start_ray_commands"]
    assert "--dashboard-host=127.0.0.1" in head[-1]
    assert re.findall(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE) == ["8000"]


def test_pods_may_do_no_more_than_they_need() -> None:
    for spec in (group["template"]["spec"] for group in groups()):
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        [container] = spec["containers"]
        confined = container["securityContext"]
        assert confined["allowPrivilegeEscalation"] is False
        assert confined["readOnlyRootFilesystem"] is True
        assert confined["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"]["limits"].keys()
        for prepares in spec["initContainers"]:
            assert (prepares["securityContext"], prepares["image"]) == (confined, container["image"])
            mounted = [{one["name"] for one in part["volumeMounts"]} for part in (prepares, container)]
            assert mounted[0] <= mounted[1]
        writable = {one["mountPath"] for one in container["volumeMounts"]}
        assert writable == {variable("ELSINORE_SERVICE_DATA"), "/tmp", "/home/ray"}
    assert {"--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(run_options())
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["1000"]
    assert re.search(r"^HEALTHCHECK .*\\\n +CMD .*/v1/health", DOCKERFILE, re.MULTILINE)


def test_images_have_a_version() -> None:
    images = [one["template"]["spec"]["containers"][0]["image"] for one in groups()]
    images += [yaml.safe_load((DEPLOY / "cluster.yaml").read_text())["docker"]["image"]]
    assert len(set(images)) == 1
    images += re.findall(r"^ARG PYTHON_IMAGE=(.+)$", DOCKERFILE, re.MULTILINE)
    assert len(images) == 4
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+", image), image
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    for path in filter(Path.is_file, DEPLOY.iterdir()):
        assert ":latest" not in path.read_text(), path


@cache
def locked(name: str) -> dict[str, list[tuple[Requirement, list[str]]]]:
    """Return the pinned versions of each package in a lock file, with their hashes."""
    found: dict[str, list[tuple[Requirement, list[str]]]] = {}
    text = re.sub(r"^#.*\n", "", (ROOT / name).read_text(), flags=re.MULTILINE).replace("\\\n", "")
    for line in text.splitlines():
        pin, *hashes = re.split(r" +--hash=", line)
        requirement = Requirement(pin)
        found.setdefault(canonicalize_name(requirement.name), []).append((requirement, [one.strip() for one in hashes]))
    return found


LOCKS = ["requirements.lock", "requirements-runtime.lock", "requirements-build.lock", "requirements-docs.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_with_its_hashes(name: str) -> None:
    assert "://" not in (ROOT / name).read_text()
    for package, pins in locked(name).items():
        for requirement, hashes in pins:
            assert [one.operator for one in requirement.specifier] == ["=="], package
            assert hashes, package
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), package


def test_the_image_has_no_tools_and_what_tests_ran_with() -> None:
    runtime, tested = locked("requirements-runtime.lock"), locked("requirements.lock")
    assert not TOOLS & runtime.keys()
    assert runtime.keys() <= tested.keys()
    for package in runtime:
        assert {str(one.specifier) for one, _ in runtime[package]} <= {str(one.specifier) for one, _ in tested[package]}


def test_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    asked = {
        "requirements-runtime.lock": project["project"]["dependencies"] + extras["cluster"],
        "requirements-build.lock": project["dependency-groups"]["build"],
        "requirements-docs.lock": project["dependency-groups"]["docs"],
        "requirements.lock": [
            *(one for extra in ("dev", "bench", "delta", "examples", "loadtest", "plot") for one in extras[extra]),
            *project["dependency-groups"]["docs"],
        ],
    }
    for name, requirements in asked.items():
        for requirement in map(Requirement, requirements):
            if requirement.name == "elsinore":
                continue
            pins = locked(name)[canonicalize_name(requirement.name)]
            versions = [next(iter(pin.specifier)).version for pin, _ in pins]
            assert any(requirement.specifier.contains(one) for one in versions), (name, str(requirement))


def test_the_image_is_installed_by_hashes() -> None:
    installs = re.findall(r"pip install (.+)", DOCKERFILE)
    assert len(installs) == 3
    for line in installs:
        assert "--require-hashes" in line or ("--no-index" in line and "--no-deps" in line), line
    assert "requirements.lock" not in DOCKERFILE
    assert "cyclonedx-py requirements requirements-runtime.lock" in DOCKERFILE


def known(variable_: str) -> None:
    if variable_ == SECRET_VARIABLE:
        return
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
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    packages = set(re.findall(r"^COPY (\w+) \./\w+$", DOCKERFILE, re.MULTILINE))
    assert packages == {"elsinore", "planner", "actors", "connectors", "cluster"}


def test_the_image_has_the_environment_of_every_process() -> None:
    assert variable("JDK_JAVA_OPTIONS").split() == [f"--add-opens={one}=ALL-UNNAMED" for one in OPENED_PACKAGES]
    assert variable(edge.CALLBACK_VARIABLE) == edge.IMPORT_PATH
    assert import_attr(edge.IMPORT_PATH) is edge.middlewares


def variable(name: str) -> str:
    found = re.search(rf'^ENV {name}="?([^"\n]*)"?$', DOCKERFILE, re.MULTILINE)
    assert found is not None
    return found[1]

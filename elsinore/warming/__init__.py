"""Compiling kernels before they are needed: small workloads over small made-up streams, in several processes."""

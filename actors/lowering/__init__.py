"""Lowering: conversion of plans to the arrays that kernels read."""

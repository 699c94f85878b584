// What every page of the console imports from vendor/libraries.js.
import { h, render } from "preact";
import htm from "htm";

export { h, render, Component, Fragment } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, useComputed, useSignal } from "@preact/signals";
export { default as uPlot } from "uplot";
export const html = htm.bind(h);

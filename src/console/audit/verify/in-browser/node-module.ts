import { fallbackCurve } from '../../../../quorum-protocol/curve-fallback.js'

/** Replaces node:module in the worker, where only the curve is required by name. */
export const createRequire = () => () => fallbackCurve

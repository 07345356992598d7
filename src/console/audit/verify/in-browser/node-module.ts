import { fallbackCurve } from '../../../../quorum-protocol/curve-fallback.js'

/** In the place of node:module in the worker: the one thing required by name there is the curve. */
export const createRequire = () => () => fallbackCurve

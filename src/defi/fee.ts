/**
 * The service's fee on sponsored calls, in basis points of the input amount. Spec silent on the
 * rate: 30 is the fee of a Uniswap pool of medium volatility; the Router's own bound is 100.
 */
export const SERVICE_FEE_BPS = 30

/**
 * The service's fee on sponsored calls, in basis points of the input amount. Spec silent on the
 * rate: 30 is what a Uniswap pool of middling volatility takes; the Router's own bound is 100.
 */
export const SERVICE_FEE_BPS = 30

import type { ChainConfig } from './chains.js'

/** Returns our own contracts and configured tokens: a screening list that names one is wrong. */
export function protectedAddressesOf(chains: readonly ChainConfig[]): readonly string[] {
  return chains.flatMap(({ wrapped_native, router, delegate, tokens, markets }) =>
    [
      wrapped_native,
      router,
      delegate,
      ...tokens.map(({ address }) => address),
      ...markets.map(({ vault }) => vault),
    ].filter((address) => address !== null),
  )
}

import { vi } from 'vitest'

/** What worlds of tests have in place of modules; `npm run simulate` bundles the same. */

vi.mock('lru-cache', async (original) => {
  const { smallCaches } = await import('./small-caches.js')
  return smallCaches(await original())
})

vi.mock('../../src/quorum-protocol/curve.js', async (original) => {
  const { standInCurve } = await import('./curves/secp256k1.js')
  return standInCurve(await original())
})

vi.mock('../../src/quorum-protocol/p256.js', async (original) => {
  const { standInP256 } = await import('./curves/p256.js')
  return standInP256(await original())
})

vi.mock('../../src/quorum-protocol/x25519.js', async (original) => {
  const { standInX25519 } = await import('./curves/x25519.js')
  return standInX25519(await original())
})

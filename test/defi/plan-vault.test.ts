import { expect, test } from 'vitest'
import type { ChainAccess } from '../../src/chains/access.js'
import { planWithdrawal } from '../../src/defi/plan-vault.js'
import { SHARE_PRICE_SHARES, type VaultState } from '../../src/defi/vault-venue.js'
import type { Address } from '../../src/domain/ids.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const [ACCOUNT, ROUTER, USDC, VAULT] = ['1', '2', '3', '6'].map(address) as [
  Address,
  Address,
  Address,
  Address,
]
const SHARES = 3_000_000n
const CHAIN = {
  config: { id: 8453, tokens: [{ symbol: 'USDC', address: USDC, decimals: 6 }], markets: [] },
} as unknown as ChainAccess

/**
 * A withdrawal of all shares, where three are worth two of the asset.
 * @param given of each thousand that shares are worth; null: nothing is redeemed now
 */
async function withdrawal(given: bigint | null) {
  const worth = (shares: bigint) => (shares * 2n) / 3n
  const state: VaultState = {
    ...{ asset: USDC, decimals: 6, totalAssets: worth(SHARES), shares: SHARES, paused: false },
    ...{ assets: worth(SHARES), sharePrice: worth(SHARE_PRICE_SHARES) },
  }
  const ports = {
    prices: { price: () => ({ value: 1n, decimals: 0, updatedAtMs: 0, source: 'test' }) },
    swapVenue: { offer: async () => null },
    vaultVenue: {
      read: async () => state,
      previewDeposit: async () => null,
      previewRedeem: async (_: unknown, _vault: unknown, shares: bigint) =>
        given === null ? null : (worth(shares) * given) / 1_000n,
    },
  }
  const market = {
    chain: { ...CHAIN, config: { ...CHAIN.config, wrapped_native: ROUTER } } as ChainAccess,
    vault: VAULT,
    state,
  }
  const plan = await planWithdrawal(ports, market, ACCOUNT, ROUTER, SHARES, null)
  if (!plan.ok) throw new Error(plan.fault.code)
  return plan.value
}

test('a withdrawal counts what its shares are worth, rounded up, whatever the vault keeps of it', async () => {
  for (const given of [1_000n, 950n, 1n, null]) {
    const { value } = await withdrawal(given)
    expect(value).toEqual({ micros: 2_000_000n, unpriced: false })
  }
  expect((await withdrawal(950n)).terms).toMatchObject({ ok: true })
  expect((await withdrawal(null)).terms).toMatchObject({ ok: false })
})

import { describe, expect, test } from 'vitest'
import type { ChainAccess } from '../../src/chains/access.js'
import { routerFee } from '../../src/contracts/router-intent-type.js'
import { SERVICE_FEE_BPS } from '../../src/defi/fee.js'
import { type AskedTerms, createReplan } from '../../src/defi/replan.js'
import type { VaultState } from '../../src/defi/vault-venue.js'
import type { Address } from '../../src/domain/ids.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const [ACCOUNT, ROUTER, USDC, OTHER, VENUE, VAULT] = ['1', '2', '3', '4', '5', '6'].map(
  address,
) as [Address, Address, Address, Address, Address, Address]
const AMOUNT = 1_000_000n
const NET = AMOUNT - routerFee(AMOUNT, SERVICE_FEE_BPS)

/** What is offered for each unit of the input, in tenths; and what the account holds. */
function now({
  tenths = 10n,
  balance = AMOUNT,
  vault = {} as Partial<VaultState> | null,
  router = ROUTER,
  isTrusted = true,
}) {
  const price = { value: 1n, decimals: 0, updatedAtMs: 0, source: 'test' }
  const shares = { decimals: 6, totalAssets: 1n, shares: balance, assets: balance }
  const state: VaultState = { asset: USDC, ...shares, sharePrice: 1n, paused: false }
  const replan = createReplan({
    hasRouter: () => isTrusted,
    prices: { price: () => price },
    swapVenue: {
      offer: async (_, { amountIn }) => ({
        ...{ amountOut: (amountIn * tenths) / 10n, priceImpactBps: 0, venue: 'test' },
        ...{ target: VENUE, tokens: [USDC, OTHER], amountsBetween: [], poolFees: [500] },
        encode: (minOut) => `0x${minOut.toString(16).padStart(8, '0')}`,
      }),
    },
    vaultVenue: {
      read: async () => (vault === null ? null : { ...state, ...vault }),
      previewDeposit: async (_, _vault, assets) => (assets * tenths) / 10n,
      previewRedeem: async (_, _vault, redeemed) => (redeemed * tenths) / 10n,
    },
  })
  const tokens = [{ symbol: 'USDC', address: USDC, decimals: 6 }]
  const chain = {
    config: { id: 8453, router, tokens, markets: [], wrapped_native: OTHER },
    reads: { tokenBalance: async () => balance, nativeBalance: async () => balance },
  } as unknown as ChainAccess
  return (asked: AskedTerms) => replan(chain, asked)
}

function asked(kind: AskedTerms['kind'], said: Partial<AskedTerms['terms']> = {}): AskedTerms {
  const terms: AskedTerms['terms'] = {
    ...{ tokenIn: USDC, amountIn: AMOUNT, feeBps: SERVICE_FEE_BPS, tokenOut: OTHER },
    ...{ minOut: (NET * 9n) / 10n, target: VENUE },
    data: '0x00',
    ...said,
  }
  return { kind, account: ACCOUNT, router: ROUTER, terms, offered: NET, maxLossBps: null }
}

const DEPOSIT = asked('defi_deposit', { tokenOut: VAULT, target: VAULT })
const WITHDRAWAL = asked('defi_withdraw', { tokenIn: VAULT, tokenOut: USDC, target: VAULT })

describe('what the venue offers now for a call that waited', () => {
  test('is for the same input, with a minimum as far below the offer as the approved one', async () => {
    for (const tenths of [10n, 8n, 13n]) {
      const offered = (NET * tenths) / 10n
      expect(await now({ tenths })(asked('swap'))).toMatchObject({
        ...{ ok: true, offered, unpriced: false },
        terms: { value: { amountIn: AMOUNT, tokenOut: OTHER, minOut: (offered * 9n) / 10n } },
      })
    }
  })

  test('is nothing where its Router is another by now, or not known to be ours', async () => {
    const refused = { ok: false, fault: { code: 'ROUTER_NOT_AVAILABLE' } }
    expect(await now({ router: OTHER })(asked('swap'))).toMatchObject(refused)
    expect(await now({ isTrusted: false })(DEPOSIT)).toMatchObject(refused)
  })

  test('is of a vault what that gives and takes now', async () => {
    const offered = (NET * 9n) / 10n
    expect(await now({ tenths: 9n })(DEPOSIT)).toMatchObject({ ok: true, offered })
    expect(await now({ tenths: 9n })(WITHDRAWAL)).toMatchObject({ ok: true, offered })
    const paused = await now({ vault: { paused: true } })(DEPOSIT)
    expect(paused).toMatchObject({ terms: { fault: { code: 'SIMULATION_REVERTED' } }, offered: 0n })
    const silent = await now({ vault: null })(DEPOSIT)
    expect(silent).toMatchObject({ ok: false, fault: { code: 'CHAIN_UNAVAILABLE' } })
  })

  test('is nothing where the balance is gone', async () => {
    for (const call of [asked('swap'), asked('gas_swap'), DEPOSIT, WITHDRAWAL]) {
      expect(await now({ balance: AMOUNT - 1n })(call), call.kind).toMatchObject({
        ...{ ok: true, offered: 0n },
        terms: { ok: false, fault: { code: 'INSUFFICIENT_FUNDS' } },
      })
    }
  })
})

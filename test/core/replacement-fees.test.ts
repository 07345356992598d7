import { expect, test } from 'vitest'
import type { AccountCommand } from '../../actors/account/core/messages.js'
import { replace } from '../../actors/account/effects/replace.js'
import type { AccountPorts } from '../../actors/account/ports.js'
import type { AccountTransaction } from '../../src/domain/transaction.js'
import type { SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import { CHAIN_ID, txIdOf } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const txId = txIdOf(1)
const FROM = '0x02'
const NOTHING = new Uint8Array()
const LOW = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
const NOW = { maxFeePerGas: 400n, maxPriorityFeePerGas: 10n }

type Signs = AccountPorts['coSigner']['sign']

/** Asks for a higher bid on a thread on which nobody follows the chain. */
async function bidOf(sign: Signs, now = NOW): Promise<AccountCommand> {
  const chain = {
    config: { id: CHAIN_ID, max_fee_per_gas_ceiling_wei: '1000000' },
    fees: { latest: () => null, quote: async () => ({ fees: now }) },
  }
  const ports = {
    chains: new Map([[CHAIN_ID, chain]]),
    timers: new VirtualTimers(0),
    log: { warn: () => undefined },
    coSigner: { sign },
  } as unknown as AccountPorts
  const call = { chainId: CHAIN_ID, to: '0x01', value: 1n, data: '0x' }
  const attempts = [{ ...LOW, intentId: `0x${'01'.repeat(32)}` }]
  const common = { txId, call, nonce: 7, from: FROM, gasLimit: 21_000n, attempts }
  const tx = common as unknown as AccountTransaction
  return new Promise((resolve) => {
    const by = { walletId: 'sw_1', keyId: null, authorization: null, feeCapWei: null }
    replace(ports, { ...by, tx, purpose: 'bump' } as Parameters<typeof replace>[1], resolve)
  })
}

function signed(): SignOutcome {
  const [txHash, rawTransaction] = ['0x02', '0x03'] as const
  const [intentId, signature] = [new Uint8Array(32), new Uint8Array(65)]
  return { ok: true, intentId, signature, txHash, rawTransaction }
}

test('a stuck transaction is outbid on a thread on which nobody follows the chain', async () => {
  const asked: SignRequest[] = []
  const bid = await bidOf(async (request) => {
    asked.push(request)
    return signed()
  })
  expect(bid).toMatchObject({ type: 'replacement-signed', txId, nonce: 7, purpose: 'bump' })
  expect(asked.map(({ payload }) => payload)).toMatchObject([{ maxFeePerGas: 400n }])
})

const DEAR = { maxFeePerGas: 750_000n, maxPriorityFeePerGas: 10n }

test.each([
  ['', NOW],
  [' also where bids cannot go much higher', DEAR],
])(
  'where the ledger holds a cancellation that nobody here remembers, it is cancelled once more%s',
  async (_, now) => {
    const takenBy = new Uint8Array(32).fill(2)
    const bid = await bidOf(async ({ payload, replaces }) => {
      const isNamed = Buffer.compare(replaces ?? NOTHING, takenBy) === 0
      if (!isNamed) return { ok: false, reason: 'NONCE_TAKEN', takenBy, detail: 'NONCE_TAKEN' }
      if (payload.type === 'transaction' && payload.to === FROM && payload.value === 0n) {
        return signed()
      }
      return { ok: false, reason: 'REFUSED', detail: 'STALE_GRANT' }
    }, now)
    expect(bid).toMatchObject({ type: 'replacement-signed', txId, nonce: 7, purpose: 'cancel' })
  },
)

/** What a ledger says that holds the same call for so much. */
function holdingAt(heldWei: bigint): Signs {
  const takenBy = new Uint8Array(32).fill(2)
  return async ({ payload, replaces }) => {
    const isNamed = Buffer.compare(replaces ?? NOTHING, takenBy) === 0
    if (!isNamed) return { ok: false, reason: 'NONCE_TAKEN', takenBy, detail: 'NONCE_TAKEN' }
    const isHigher = payload.type === 'transaction' && payload.maxFeePerGas > heldWei
    return isHigher ? signed() : { ok: false, reason: 'REFUSED', detail: 'UNDERPRICED' }
  }
}

test('a bid of dearer times whose bytes were lost is outbid, and nothing cancelled', async () => {
  const bid = await bidOf(holdingAt(700n))
  expect(bid).toMatchObject({ type: 'replacement-signed', txId, nonce: 7, purpose: 'bump' })
})

test('a lost bid that is as high as bids may be is waited for, and nothing cancelled', async () => {
  expect(await bidOf(holdingAt(2_000_000n))).toEqual({ type: 'replacement-failed', txId })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JOINED_MAX } from '../../actors/sub-wallet/core/joined-callers.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { Sent } from '../../actors/sub-wallet/core/sent.js'
import { executedAs } from '../../actors/sub-wallet/effects/prepare-send.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import type { KeyId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import {
  ATTEMPT,
  apiKey,
  KEY_ID,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  preparedSwap,
  type WalletWorld,
} from './wallet-world.js'

const nowMs = START_MS
const QUOTE = { lineageId: LINEAGE_ID, quoteId: 'quote_1' }
const OTHER_KEY = 'key_other' as KeyId

/** Some execution of the quote, with or without an Idempotency-Key, by either key of the wallet. */
interface Asked {
  readonly idempotencyKey: string | null
  readonly keyId: KeyId
}

const PLAIN: Asked = { idempotencyKey: null, keyId: KEY_ID }

async function openWorld(): Promise<WalletWorld> {
  const world = await openWallet(1_000_000n)
  const other = apiKey({ keyId: OTHER_KEY, dailyLimitMicros: null, monthlyLimitMicros: null })
  await world.handle({ type: 'register-key', key: other })
  return world
}

/** As the effect before the mailbox hands it over. */
function execute(world: WalletWorld, n: number, { idempotencyKey, keyId }: Asked) {
  const executed = executedAs({ reader: world.reader } as SubWalletPorts, world.state, {
    executes: QUOTE,
  })
  const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, bodyHash: 'same' }
  return world.handle(
    preparedSwap(n, 100n, { executes: QUOTE, executed, idempotency, keyId, fingerprint: 'swap' }),
    n,
  )
}

type Ending = 'broadcast' | 'no-gas-wallet' | 'rejected' | 'blocked' | 'unsigned'

/** What happens to the first execution, step by step. */
function stepsTo(ending: Ending): Command[] {
  const txId = txIdOf(1)
  const screened = (refusal: ReturnType<typeof fault> | null): Command => ({
    ...{ type: 'sponsored-screened', txId, refusal, screenedAgainst: [], nowMs },
  })
  if (ending === 'blocked') return [screened(fault('ADDRESS_BLOCKED'))]
  const clean = screened(null)
  if (ending === 'unsigned') {
    const unsigned = { txId, fault: fault('COSIGNER_UNAVAILABLE'), chainNonce: null, nowMs }
    return [clean, { type: 'intent-failed', ...unsigned }]
  }
  const deadlineSeconds = nowMs / 1_000 + INTENT_SECONDS
  const signed = { calldata: '0x', authorization: null, deadlineSeconds } as const
  const handed: Command = { type: 'intent-signed', txId, signed, nowMs }
  const update = { type: 'sponsor-update', txId, cancels: null, nowMs } as const
  const by = { ...update, gasWalletId: FIRST_GAS_WALLET }
  if (ending === 'no-gas-wallet') {
    const refusal = { of: 'call', fault: fault('CHAIN_UNAVAILABLE') } as const
    return [clean, handed, { ...by, gas: null, flight: 'ended', refusal }]
  }
  const gas = transaction(1, { status: 'signed', attempts: [ATTEMPT] })
  const sending: Command = { ...by, gas, flight: 'sending', refusal: null }
  const after: Command =
    ending === 'broadcast'
      ? { ...by, gas: { ...gas, status: 'broadcast' }, flight: 'sent', refusal: null }
      : { ...by, gas: { ...gas, status: 'dropped' }, flight: 'ended', refusal: null }
  return [clean, handed, sending, after]
}

const resultOf = (world: WalletWorld, n: number) =>
  world.replies.filter(({ token }) => token === n).map(({ result }) => result)

const asks = fc.record<Asked>({
  idempotencyKey: fc.constantFrom(null, 'a', 'b'),
  keyId: fc.constantFrom(KEY_ID, OTHER_KEY),
})

test('racing executions of one quote make one call, whose record answers them all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Ending>('broadcast', 'no-gas-wallet', 'rejected', 'blocked', 'unsigned'),
      asks,
      fc.array(fc.record({ asked: asks, at: fc.nat(5) }), { minLength: 1, maxLength: 8 }),
      async (ending, first, others) => {
        const world = await openWorld()
        await execute(world, 1, first)
        const steps = stepsTo(ending)
        const raced: number[] = []
        for (let at = 0; at <= steps.length; at++) {
          for (const [index, other] of others.entries()) {
            // What was refused is over: the quote may be executed again from then on.
            if (other.at !== at || (at === steps.length && ending !== 'broadcast')) continue
            await execute(world, index + 2, other.asked)
            raced.push(index + 2)
          }
          const step = steps[at]
          if (step !== undefined) await world.handle(step)
        }
        expect(world.pending.filter(({ type }) => type === 'screen-sponsored')).toHaveLength(1)
        expect(world.state.joined.size).toBe(0)
        expect(resultOf(world, 1)).toHaveLength(1)
        for (const n of raced) {
          const [result, ...more] = resultOf(world, n)
          expect(more).toEqual([])
          if (ending === 'broadcast' || ending === 'rejected') {
            expect(result?.ok && result.value).toBeInstanceOf(Sent)
            expect(result).toMatchObject({ value: { replayed: true, tx: { txId: txIdOf(1) } } })
          } else {
            const isSameKey = others[n - 2]?.asked.keyId === first.keyId
            const refused = isSameKey ? resultOf(world, 1)[0] : IN_PROGRESS
            expect(result).toMatchObject(refused ?? {})
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

const IN_PROGRESS = {
  ok: false,
  fault: { code: 'IDEMPOTENCY_IN_PROGRESS', details: { tx_id: txIdOf(1) } },
}

test('an execution after a restart waits for a call that no gas wallet has signed yet', async () => {
  const world = await openWorld()
  await execute(world, 1, PLAIN)
  const [screened, handed, sending, sent] = stepsTo('broadcast')
  for (const step of [screened, handed]) if (step !== undefined) await world.handle(step)
  world.restart()
  await execute(world, 2, PLAIN)
  expect(resultOf(world, 2)).toEqual([])
  for (const step of [sending, sent]) if (step !== undefined) await world.handle(step)
  expect(resultOf(world, 2)).toMatchObject([
    { ok: true, value: { replayed: true, tx: { txId: txIdOf(1), status: 'broadcast' } } },
  ])
})

test('callers beyond the bound hear that the quote is being executed', async () => {
  const world = await openWorld()
  for (let n = 1; n <= JOINED_MAX + 2; n++) await execute(world, n, PLAIN)
  expect(resultOf(world, JOINED_MAX + 1)).toEqual([])
  expect(resultOf(world, JOINED_MAX + 2)).toMatchObject([IN_PROGRESS])
})

import { expect, test } from 'vitest'
import type { SponsorCommand } from '../../actors/sub-wallet/core/sponsored-messages.js'
import { systemTimers } from '../../src/clock/timers.js'
import { createQuoteBook } from '../../src/defi/quote-book.js'
import { fault, refuse } from '../../src/errors/fault.js'
import { executeSwap } from '../../src/operations/agent/execute-swap.js'
import type { AgentContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { apiKey, START_MS } from './wallet-fixtures.js'

const IN_PROGRESS = fault('IDEMPOTENCY_IN_PROGRESS')

/** A front end that holds no quotes, in front of an actor that has the first call under way. */
function frontEnd() {
  const asked: SponsorCommand[] = []
  const stored = { idempotency: { byKey: () => undefined }, transactions: {} }
  const ports = {
    reader: {
      wallets: { byId: () => ({ address: '0x1111111111111111111111111111111111111111' }) },
      fresh: () => stored,
    },
    quotes: createQuoteBook(),
    timers: systemTimers(() => START_MS),
    actors: {
      async ask(_: unknown, command: SponsorCommand) {
        asked.push(command)
        return refuse(IN_PROGRESS)
      },
    },
  } as unknown as OperationPorts
  const idempotency = { key: 'once', bodyHash: 'same' }
  const context = (of: AgentContext['idempotency']): AgentContext => ({
    ...{ requestId: 'r', key: apiKey(), proofKey: new Uint8Array(32), idempotency: of },
    guardsDuplicates: false,
  })
  const swap = (of: AgentContext['idempotency'] = idempotency) =>
    executeSwap(ports)(context(of), { quote_id: 'quote_1' })
  return { swap, asked }
}

test('a swap by a forgotten quote asks its actor, which may have it under way', async () => {
  const { swap, asked } = frontEnd()
  // There is no record of it yet: a caller that hears of no quote would ask for another, and swap again.
  expect(await swap()).toEqual(refuse(IN_PROGRESS))
  expect(asked).toMatchObject([{ isForgotten: true, quote: { ok: false } }])
})

test('so does one without an Idempotency-Key: the quote stands for what was made of it', async () => {
  const { swap, asked } = frontEnd()
  expect(await swap(null)).toEqual(refuse(IN_PROGRESS))
  const executes = { lineageId: apiKey().lineageId, quoteId: 'quote_1' }
  expect(asked).toMatchObject([{ isForgotten: true, idempotency: null, executes }])
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { LineageId } from '../../src/domain/ids.js'
import { openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import {
  AllowancePayer,
  OTHER_KEY,
  OTHER_SPENDER,
  SPENDER,
  SUPPLY,
  TOKEN,
} from './allowance-payer.js'
import { START_MS, WALLET_ID } from './wallet-fixtures.js'

const DAY_MS = 86_400_000
const UNLIMITED = 2n ** 256n - 1n
const THEIRS = { keyId: OTHER_KEY }

describe('an approval', () => {
  test('counts in full whatever the balance, and what does not fit is refused with what would', () => {
    const payer = new AllowancePayer({ dailyLimitMicros: 5_000n })
    const refused = payer.approve(UNLIMITED)
    expect(refused.refusal).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { suggestion: { token: TOKEN, spender: SPENDER, amount: '4990' } },
    })
    expect(payer.approve(4_991n).refusal?.code).toBe('LIMIT_EXCEEDED')
    expect(payer.approve(4_990n)).toMatchObject({ refusal: null, micros: 4_990n })
    expect(payer.approve(1n).refusal?.details).not.toHaveProperty('suggestion')
  })

  test('by a key without caps counts no more than there is of the token', () => {
    const free = new AllowancePayer({ dailyLimitMicros: null, monthlyLimitMicros: null })
    expect(free.approve(UNLIMITED).micros).toBe(SUPPLY)
    const monthly = new AllowancePayer({ dailyLimitMicros: null, monthlyLimitMicros: 10n * SUPPLY })
    expect(monthly.approve(UNLIMITED).refusal?.code).toBe('LIMIT_EXCEEDED')
  })

  test('of a token with a fee on top counts what a pull of it takes, once', () => {
    const payer = new AllowancePayer({ dailyLimitMicros: 5_000n })
    const allowed = (amount: bigint) => [{ spender: SPENDER, kind: 'erc20' as const, amount }]
    const fee = { pullTakesBps: 11_000n }
    const refused = payer.draft({ ...fee, approvals: allowed(10_000n) })
    expect(refused.refusal?.details).toMatchObject({ suggestion: { amount: '4536' } })
    const approval = payer.draft({ ...fee, approvals: allowed(1_000n) })
    expect(approval.micros).toBe(1_100n)
    payer.store(approval.txId)
    payer.confirm(approval)
    const pull = { ...fee, ran: 1_100n, standing: allowed(1_000n) }
    expect(payer.draft({ ...pull, balance: 0n }, THEIRS).micros).toBe(1_100n)
    expect(payer.draft({ ...pull, balance: 0n }).micros).toBe(0n)
  })

  test('stays spent in full once it is mined, and is released when it fails', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    expect(payer.used()).toBe(100n)
    payer.confirm(payer.approve(70n), 'reverted')
    expect(payer.used()).toBe(100n)
  })
})

describe('what was paid for with an approval', () => {
  test('is not paid again when the spender takes it, be it at once or in parts', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    const first = payer.pull(40n, 100n)
    expect(first.micros).toBe(0n)
    // The chain does not show the first pull yet.
    expect(payer.pull(60n, 100n).micros).toBe(0n)
    expect(payer.used()).toBe(100n + 2n * 10n)
  })

  test('is used up by a call that was valued after others which use it', () => {
    const payer = new AllowancePayer()
    const approval = payer.approve(100n, { after: [] })
    const first = payer.pull(40n, 100n, { after: [approval.txId] })
    const second = payer.pull(60n, 60n, { after: [approval.txId, first.txId] })
    expect([first.micros, second.micros]).toEqual([0n, 0n])
    const used = payer.state.open.get(second.txId)?.tx.credits
    expect(used).toMatchObject([{ amount: 60n }])
    const third = { after: [approval.txId, first.txId, second.txId] }
    expect(payer.pull(0n, 50n, third).micros).toBe(50n)
  })

  test('is used in the very step that reserves, so that two calls cannot both have it', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    const standing = [{ spender: SPENDER, kind: 'erc20' as const, amount: 1_000n }]
    expect(payer.draft({ ran: 100n, standing, balance: 0n }).micros).toBe(100n)
    const paid = [{ spender: SPENDER, kind: 'erc20' as const, amount: 100n }]
    expect(payer.draft({ ran: 100n, standing: paid, balance: 0n }).micros).toBe(0n)
    payer.mine(payer.pull(0n, 0n))
    // A token that took nothing off its allowance: what is left of the credit is nothing.
    const again = payer.draft({ ran: 150n, standing: paid, balance: 0n })
    expect(again.micros).toBe(50n)
  })

  test('pays for nothing that its allowance cannot explain', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    expect(payer.pull(130n, 100n).micros).toBe(30n)
  })

  test('pays for nothing that the contract which is called cannot have pulled', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    const standing = [{ spender: SPENDER, kind: 'erc20' as const, amount: 100n }]
    for (const puller of [null, OTHER_SPENDER]) {
      expect(payer.draft({ ran: 100n, standing, puller }).micros).toBe(100n)
    }
    expect(payer.draft({ ran: 0n, standing, puller: null }).micros).toBe(0n)
  })

  test('pays for no other lineage, which counts the whole of what it could use', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    expect(payer.pull(100n, 100n, THEIRS).micros).toBe(100n)
    expect(payer.pull(0n, 100n, { ...THEIRS, balance: 0n }).micros).toBe(100n)
    expect(payer.pull(100n, 100n).micros).toBe(0n)
  })

  test('pays for no other spender', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    expect(payer.pull(100n, 100n, { spender: OTHER_SPENDER }).micros).toBe(100n)
  })

  test('ends with its day', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    const tomorrow = { nowMs: START_MS + DAY_MS }
    expect(payer.pull(100n, 100n, tomorrow).micros).toBe(100n)
    // What may still come in was counted when it was approved.
    expect(payer.pull(0n, 100n, { ...tomorrow, balance: 30n }).micros).toBe(30n)
  })

  test('ends when another lineage approves in its place', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    payer.confirm(payer.approve(60n, THEIRS))
    expect(payer.pull(60n, 60n).micros).toBe(60n)
    expect(payer.pull(60n, 60n, THEIRS).micros).toBe(0n)
  })

  test('is the newest approval alone, not the sum of all', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    payer.confirm(payer.approve(40n))
    expect(payer.pull(100n, 40n).micros).toBe(60n)
  })

  test('does not exist before its approval is mined where another’s stood in its place', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n, THEIRS))
    const mine = payer.approve(100n)
    expect(payer.pull(100n, 100n).micros).toBe(100n)
    payer.mine(mine)
    expect(payer.pull(100n, 100n).micros).toBe(0n)
  })

  test('does not exist there either when what was mined cancelled its approval', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n, THEIRS))
    payer.mineCancellation(payer.approve(100n))
    expect(payer.pull(100n, 100n).micros).toBe(100n)
  })

  test.for(['reverted', 'dropped'] as const)('never existed when its approval is %s', (how) => {
    const payer = new AllowancePayer()
    const approval = payer.approve(100n)
    if (how === 'reverted') payer.confirm(approval, 'reverted')
    else payer.drop(approval)
    expect(payer.used()).toBe(0n)
    expect(payer.pull(100n, 100n).micros).toBe(100n)
  })

  test('is there again when the call that used it fails', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n))
    payer.confirm(payer.pull(100n, 100n), 'reverted')
    expect(payer.pull(100n, 100n).micros).toBe(0n)
    const [entry] = payer.state.allowances.values()
    expect(entry?.paid).toMatchObject({ amount: 100n, left: 0n })
  })

  test('of a key without caps does not make calls of its unlimited approval free', () => {
    const payer = new AllowancePayer({ dailyLimitMicros: null })
    payer.confirm(payer.approve(UNLIMITED))
    expect(payer.pull(70n, UNLIMITED, { balance: 400n }).micros).toBe(400n)
  })
})

describe('Permit2', () => {
  test('counts where a spender is named, not where Permit2 is trusted, in whatever order', () => {
    for (const first of ['trust', 'approve'] as const) {
      const payer = new AllowancePayer()
      if (first === 'trust') expect(payer.approvePermit2(UNLIMITED).micros).toBe(0n)
      payer.confirm(payer.approve(100n, { kind: 'permit2' }))
      if (first === 'approve') expect(payer.approvePermit2(UNLIMITED).micros).toBe(0n)
      expect(payer.used() - 10n).toBe(100n)
    }
  })

  test('counts what others approved within it against who brings it to life', () => {
    const payer = new AllowancePayer()
    payer.confirm(payer.approve(100n, { kind: 'permit2' }))
    expect(payer.approvePermit2(UNLIMITED, THEIRS).micros).toBe(100n)
    expect(payer.approvePermit2(30n, THEIRS).micros).toBe(30n)
  })
})

test('credits are the same after a restart', async () => {
  const payer = new AllowancePayer()
  payer.confirm(payer.approve(100n))
  payer.pull(40n, 100n)
  payer.approve(5n, { ...THEIRS, spender: OTHER_SPENDER })
  const directory = mkdtempSync(join(tmpdir(), 'cs-credits-'))
  const environment = openEnvironment(directory)
  try {
    const batch = new WriteBatch()
    recordEvents(batch, payer.state, payer.events)
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    await localCommits(environment, sequence).commit(batch)
    const loaded = loadState(createReader(environment), WALLET_ID)
    expect(loaded.allowances).toEqual(payer.state.allowances)
    expect(loaded.allowancesComplete).toBe(true)
    const credits = [...loaded.open.values()].map(({ tx }) => tx.credits ?? [])
    expect(credits.flat()).toMatchObject([{ amount: 40n }])
    expect(loaded.spend.get(OTHER_KEY as string as LineageId)?.reservedMicros).toBe(15n)
  } finally {
    await environment.root.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { OPEN_MAX, restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import { GATES, type Gate } from '../../actors/sub-wallet/core/lifecycle.js'
import type { Command, PreparedSend } from '../../actors/sub-wallet/core/messages.js'
import type { PreparedSponsored } from '../../actors/sub-wallet/core/sponsored-messages.js'
import { countersOf, emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { KeyId } from '../../src/domain/ids.js'
import { GAS_BUDGET_DEFAULTS } from '../../src/domain/sponsored-gas.js'
import { fault } from '../../src/errors/fault.js'
import {
  apiKey,
  type Flat,
  GAS_MICROS,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
  wallet,
} from '../actors/wallet-fixtures.js'
import { preparedSwap } from './wallet-world.js'

type Quoted = PreparedSponsored['quote']
const CAP_MICROS = 1_000n
const OTHER_CHAIN = 1
const FIRST = { key: 'once', bodyHash: 'a' }
const REUSED = { key: 'once', bodyHash: 'b' }
const UNQUOTED = { ok: false, fault: fault('PRICE_UNAVAILABLE') } as const

function openWallet(): SubWalletState {
  const state = emptyState(WALLET_ID)
  tell(state, { type: 'create-wallet', wallet })
  const key = apiKey({ dailyLimitMicros: CAP_MICROS, duplicateGuard: 'on' })
  tell(state, { type: 'register-key', key })
  return state
}

/** @returns the code that the caller of this command is refused with; null when it is not */
function tell(state: SubWalletState, command: Command): string | null {
  const { replies } = decide(state, command, 1)
  const refused = replies.find(({ result }) => !result.ok)
  return refused === undefined || refused.result.ok ? null : refused.result.fault.code
}

/** The wallet holds as many open transactions as it may. */
function fill(state: SubWalletState): void {
  for (let n = 0; n < OPEN_MAX; n++) {
    const tx = transaction(1_000 + n)
    state.open.set(tx.txId, restoredEntry(tx, 'sent'))
  }
}

function freezeKey(state: SubWalletState): void {
  const freezing = { scope: 'key', sinceMs: START_MS, reason: 'lost', by: 'user' } as const
  const lineages = new Map([[LINEAGE_ID, freezing]])
  state.freezes = { instance: null, user: null, wallets: new Map(), lineages }
}

interface Defect<Prepared> {
  readonly said?: Partial<Prepared>
  readonly before?: (state: SubWalletState) => void
}

/** What keeps a send from passing each gate. */
const SEND: Partial<Record<Gate['name'], Defect<Flat<PreparedSend>>>> = {
  key: { said: { keyId: 'key_unknown' as KeyId } },
  frozen: { before: freezeKey },
  chain: { said: { chainId: OTHER_CHAIN } },
  idempotency: {
    said: { idempotency: REUSED },
    before: (state) => tell(state, preparedSend(1, 5n, { idempotency: FIRST })),
  },
  duplicate: { before: (state) => tell(state, preparedSend(2, 1n, { idempotency: null })) },
  room: { before: fill },
  quote: { said: { quote: UNQUOTED } },
  caps: { said: { quote: preparedSend(0, CAP_MICROS).quote } },
  screening: { said: { screened: { refusal: fault('ADDRESS_BLOCKED'), screenedAgainst: [] } } },
  nonce: { said: { chainNonce: null } },
}

/** And a sponsored call, which takes no nonce and is screened later. */
const SWAP: Partial<Record<Gate['name'], Defect<PreparedSponsored>>> = {
  key: { said: { keyId: 'key_unknown' as KeyId } },
  frozen: { before: freezeKey },
  chain: { said: { chainId: OTHER_CHAIN } },
  idempotency: {
    said: { idempotency: REUSED },
    before: (state) => tell(state, preparedSwap(1, 5n, { idempotency: FIRST })),
  },
  duplicate: {
    said: { fingerprint: 'same' },
    before: (state) => tell(state, preparedSwap(2, 1n, { fingerprint: 'same' })),
  },
  room: { before: fill },
  quote: { said: { quote: UNQUOTED } },
  'swap-loss': { said: { quote: { ...preparedSwap(0, 1n).quote, exchange: null } as Quoted } },
  caps: { said: { quote: preparedSwap(0, CAP_MICROS + 1n).quote } },
  'gas-budget': { said: { gasMicros: GAS_BUDGET_DEFAULTS.walletMicros + 1n } },
}

/** A call that passes all gates before the named one, and none of the others. */
function stoppedAt<Prepared>(
  defects: Partial<Record<Gate['name'], Defect<Prepared>>>,
  gate: Gate,
): { readonly state: SubWalletState; readonly said: Partial<Prepared> } {
  const state = openWallet()
  const left = GATES.slice(GATES.indexOf(gate)).map(({ name }) => defects[name] ?? {})
  for (const { before } of left) before?.(state)
  const said = left.map((defect) => defect.said ?? {}).reverse()
  return { state, said: Object.assign({}, ...said) }
}

describe('a call that moves value', () => {
  test.each(GATES.filter(({ name }) => SEND[name] !== undefined))(
    'is refused by the first gate that it does not pass: a send, by $name',
    (gate) => {
      // A lane that knows its nonce needs none from the chain.
      const { state, said } = stoppedAt(SEND, gate)
      if (gate.name === 'nonce') state.lanes.clear()
      expect(gate.refusals).toContain(tell(state, preparedSend(9, 1n, said)))
      expect(state.drafts.has(txIdOf(9))).toBe(false)
    },
  )

  test.each(GATES.filter(({ name }) => SWAP[name] !== undefined))(
    'is refused by the first gate that it does not pass: a sponsored call, by $name',
    (gate) => {
      const { state, said } = stoppedAt(SWAP, gate)
      expect(gate.refusals).toContain(tell(state, preparedSwap(9, 1n, said)))
      expect(state.sponsored.has(txIdOf(9))).toBe(false)
    },
  )

  test('holds its reservation once it has passed them all', () => {
    const state = openWallet()
    expect(tell(state, preparedSend(9, 1n))).toBeNull()
    expect(tell(state, preparedSwap(8, 1n))).toBeNull()
    expect(usedMicros(state)).toBe(2n + GAS_MICROS)
  })

  test('meets the gates that the README lists', () => {
    const readme = readFileSync('actors/sub-wallet/README.md', 'utf8')
    const section = readme.split('\n## Gates\n')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) =>
      row.split('|').map((cell) => cell.trim()),
    )
    expect(rows.slice(2)).toEqual(
      GATES.map(({ name, movedOnBy, durable, onCrash, refusals, askedAgain }) => {
        return [name, movedOnBy, yesNo(durable), onCrash, refusals.join(', '), yesNo(askedAgain)]
      }),
    )
  })
})

describe('a call that is valued again', () => {
  test('holds its new worth alone, and keeps its place', () => {
    const state = openWallet()
    tell(state, preparedSend(1, 600n, { idempotency: FIRST }))
    expect(requote(state, 700n)).toBeNull()
    expect(usedMicros(state)).toBe(700n + GAS_MICROS)
    expect(state.drafts.get(txIdOf(1))?.phase).toBe('screening')
    expect(tell(state, preparedSend(2, 600n, { idempotency: FIRST }))).toBe(
      'IDEMPOTENCY_IN_PROGRESS',
    )
  })

  test('is refused past its cap, and then holds nothing', () => {
    const state = openWallet()
    tell(state, preparedSend(1, 600n))
    expect(requote(state, CAP_MICROS)).toBe('LIMIT_EXCEEDED')
    expect(usedMicros(state)).toBe(0n)
    expect(state.drafts.size).toBe(0)
  })

  test('is refused when its key was frozen meanwhile', () => {
    const state = openWallet()
    tell(state, preparedSend(1, 600n))
    freezeKey(state)
    expect(requote(state, 600n)).toBe('FROZEN')
    expect(usedMicros(state)).toBe(0n)
  })

  test('is refused when its key was revoked meanwhile', () => {
    const state = openWallet()
    tell(state, preparedSend(1, 600n))
    tell(state, { type: 'revoke-key', keyId: KEY_ID, nowMs: START_MS })
    expect(requote(state, 600n)).toBe('INVALID_KEY')
    expect(usedMicros(state)).toBe(0n)
  })
})

describe('a call that was let through', () => {
  test('gets no nonce once its key is frozen, and holds nothing any more', () => {
    const state = openWallet()
    tell(state, preparedSend(1, 600n))
    freezeKey(state)
    const clean = { refusal: null, screenedAgainst: [], requoted: null } as const
    const screened = { type: 'screened', txId: txIdOf(1), ...clean, nowMs: START_MS } as const
    const { effects } = decide(state, screened, null)
    expect(effects.map(({ type }) => type)).toEqual(['refused'])
    expect(state.drafts.size).toBe(0)
    expect(usedMicros(state)).toBe(0n)
  })

  test('is not sponsored once its key is frozen', () => {
    const state = openWallet()
    tell(state, preparedSwap(1, 600n))
    freezeKey(state)
    const clean = { refusal: null, screenedAgainst: [] } as const
    const screened = { type: 'sponsored-screened', txId: txIdOf(1), ...clean } as const
    const { effects } = decide(state, { ...screened, nowMs: START_MS }, null)
    expect(effects.map(({ type }) => type)).toEqual(['refused'])
    expect(state.sponsored.size).toBe(0)
    expect(usedMicros(state)).toBe(0n)
  })
})

function requote(state: SubWalletState, micros: bigint): string | null {
  const { quote: requoted } = preparedSend(1, micros)
  const clean = { refusal: null, screenedAgainst: [], requoted } as const
  return tell(state, { type: 'screened', txId: txIdOf(1), ...clean, nowMs: START_MS })
}

function usedMicros(state: SubWalletState): bigint {
  return countersOf(state, LINEAGE_ID, START_MS).dayMicros
}

function yesNo(is: boolean): 'yes' | 'no' {
  return is ? 'yes' : 'no'
}

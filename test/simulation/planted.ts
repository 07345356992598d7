import type { Envelope, ErasedShell } from '../../actors/runtime/actor.js'
import { settleOnPath } from '../../actors/sub-wallet/core/path-spend.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { KeyId, TxId } from '../../src/domain/ids.js'
import { dayEndMs, utcDay } from '../../src/domain/spend.js'
import type { Journal } from '../../src/journal/journal.js'
import type { Policy, Rule } from '../../src/policy/policy.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener } from '../../src/screening/screener.js'
import type { StoreKey } from '../../src/store/checked-space.js'
import type { KeySpace } from '../../src/store/key-spaces.js'
import type { PartedFaults } from './parted.js'

/**
 * A fault that is put into a run to see that an oracle finds it: something that the service, or what
 * it stands on, does wrong at a seam. What nothing finds is no guarantee of the simulator's.
 */
export interface Planted {
  readonly what: string
  /** In its world the fault shows. */
  readonly seed: number
  /** False: a row of a commit is lost on its way to the disk. @param nth counts the space's rows */
  readonly keeps?: (space: KeySpace, key: StoreKey, nth: number) => boolean
  /** A commit is called durable before it is written. */
  readonly promisesEarly?: true
  readonly shell?: (shell: ErasedShell) => ErasedShell
  /** What becomes of messages that one thread sends. */
  readonly tells?: () => (envelope: Envelope) => readonly Envelope[]
  /** How often an answer reaches its caller. @param nth counts all of them */
  readonly answers?: (nth: number) => number
  readonly prices?: (prices: PriceSource) => PriceSource
  readonly screener?: (screener: Screener) => Screener
  /** The user side approves before its evidence is on disk. */
  readonly approvesEarly?: true
  /** The user side does not read, at a start, what its evidence has and its ledger does not. */
  readonly forgetsEvidence?: true
  /** A start of the service whose connection has gone takes over from its successor. */
  readonly takesDeadStarts?: true
  /** A start from which the journal was taken takes over from whoever took it. */
  readonly ignoresLeaders?: true
  /** Of a cluster, the journal as a start of a process reaches it. */
  readonly journal?: (journal: Journal) => Journal
  /** In a cluster whose parties are parted. */
  readonly parted?: PartedFaults
  /** Freezes are stored, and stop nothing here or there. */
  readonly ignoresFreezes?: true
}

interface Told {
  readonly type: string
}

const typeOf = (command: unknown) => (command as Told).type

function loses(space: KeySpace, every: number): Pick<Planted, 'keeps'> {
  return { keeps: (of, _, nth) => of !== space || nth % every !== 0 }
}

/** A message of a type does not arrive. */
function drops(type: string, every = 1): Pick<Planted, 'tells'> {
  return {
    tells: () => {
      let count = 0
      return (envelope) => {
        if (typeOf(envelope.command) !== type) return [envelope]
        return ++count % every === 0 ? [] : [envelope]
      }
    },
  }
}

/** Commands of one kind of actor reach its decision changed. */
function changes(kind: string, change: (command: never) => unknown): Pick<Planted, 'shell'> {
  return {
    shell: (shell) =>
      shell.kind !== kind
        ? shell
        : {
            ...shell,
            decide: (state, command, token) => shell.decide(state, change(command as never), token),
          },
  }
}

function ofType<C extends Told>(type: string, change: (command: C) => unknown) {
  return (command: C) => (command.type === type ? change(command) : command)
}

function firstOf(prices: PriceSource): PriceSource {
  let first: ReturnType<PriceSource['price']> | null = null
  return {
    ...prices,
    price(...of) {
      first ??= prices.price(...of)
      return first
    },
  }
}

/** Keys are made with a policy that lacks some of its rules. */
function policyWithout(lacks: (rule: Rule) => boolean): Pick<Planted, 'shell'> {
  return changes(
    'sub-wallet',
    ofType<Told & { key: { policy: Policy | null } }>('register-key', (command) => {
      const { policy } = command.key
      if (policy === null) return command
      const rules = policy.rules.filter((rule) => !lacks(rule))
      return { ...command, key: { ...command.key, policy: { ...policy, rules } } }
    }),
  )
}

/** Once something happened to a wallet, its state is made another. @param what an event, or its change */
function afterEvent(what: string, make: (state: SubWalletState) => void): Pick<Planted, 'shell'> {
  return {
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        const decision = shell.decide(state, command, token)
        const happened = decision.events.some((event) => {
          const { type, change } = event as Told & { change?: string }
          return type === what || change === what
        })
        if (happened) make(state as SubWalletState)
        return decision
      },
    }),
  }
}

/** Wallets decide by another clock. @param firstMs of the first command */
function clockOf(change: (nowMs: number, firstMs: number) => number): Pick<Planted, 'shell'> {
  return {
    shell: (shell) => {
      let firstMs: number | null = null
      return {
        ...shell,
        decide(state, command, token) {
          const { nowMs } = command as { readonly nowMs?: number }
          if (shell.kind !== 'sub-wallet' || nowMs === undefined) {
            return shell.decide(state, command, token)
          }
          firstMs ??= nowMs
          const told = { ...(command as object), nowMs: change(nowMs, firstMs) }
          return shell.decide(state, told, token)
        },
      }
    },
  }
}

const ASKS_FOR_SPEND: ReadonlySet<string> = new Set(['prepared-send', 'prepared-sponsor-call'])
const NO_CAPS = { dailyLimitMicros: null, monthlyLimitMicros: null }

/** Oldest first: row of the store, seam of the actors, decision. */
export const PLANTED: readonly Planted[] = [
  { what: 'a commit is promised before it is written', seed: 1, promisesEarly: true },
  { what: 'the state of a transaction is not written', seed: 1, ...loses('transactionStates', 3) },
  { what: 'the record of a transaction is not written', seed: 1, ...loses('transactions', 3) },
  { what: 'the marks of a wallet are not written', seed: 1, ...loses('subWalletMarks', 2) },
  { what: 'an Idempotency-Key is not written', seed: 8, ...loses('idempotency', 1) },
  { what: 'a sponsorship is not written', seed: 3, ...loses('sponsorships', 2) },
  { what: 'a job of a gas wallet is not written', seed: 3, ...loses('gasTransactions', 3) },
  { what: 'an open job is not listed', seed: 3, ...loses('openByGasWallet', 1) },
  { what: 'an event is not written', seed: 1, ...loses('userEvents', 3) },
  { what: 'a block that calls ended in is not noted', seed: 51, ...loses('settlements', 1) },
  { what: 'a change of a grant is not written', seed: 9, ...loses('grantChanges', 1) },
  {
    what: 'effects start before the disk has what they rest on',
    seed: 1,
    shell: (shell) => ({ ...shell, startsAtOnce: () => true }),
  },
  {
    what: 'a reservation is forgotten',
    seed: 1,
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        const decision = shell.decide(state, command, token)
        const isReserved = decision.events.some((event) => typeOf(event) === 'reserved')
        if (isReserved) (state as { readonly draftSpend: Map<string, unknown> }).draftSpend.clear()
        return decision
      },
    }),
  },
  {
    what: 'a job is handed to two gas wallets',
    seed: 3,
    tells: () => (envelope) => {
      if (envelope.kind !== 'gas-wallet' || typeOf(envelope.command) !== 'sponsor')
        return [envelope]
      const [chainId = '', index = ''] = envelope.id.split(':')
      return [envelope, { ...envelope, id: `${chainId}:${(Number(index) + 1) % 4}` }]
    },
  },
  { what: 'what a gas wallet tells is lost', seed: 18, ...drops('sponsor-update', 2) },
  { what: 'a reorg is not told', seed: 26, ...drops('unmined') },
  { what: 'a caller is answered twice', seed: 2, answers: (nth) => (nth % 20 === 0 ? 2 : 1) },
  { what: 'a caller is forgotten', seed: 1, answers: (nth) => (nth % 20 === 0 ? 0 : 1) },
  {
    what: 'an indeterminate broadcast is taken for a rejection',
    seed: 12,
    ...changes(
      'sub-wallet',
      ofType<Told & { outcome: { kind: string } }>('broadcast-outcome', (command) => {
        if (command.outcome.kind !== 'indeterminate') return command
        const fault = { code: 'CHAIN_REJECTED', details: {}, message: '' }
        return { ...command, outcome: { kind: 'rejected', fault } }
      }),
    ),
  },
  {
    what: 'the gas that was paid is not counted',
    seed: 110,
    ...changes(
      'sub-wallet',
      ofType<Told & { mined: object }>('confirmed', (command) => ({
        ...command,
        mined: { ...command.mined, feeWei: 0n },
      })),
    ),
  },
  {
    what: 'an Idempotency-Key is not looked at',
    seed: 2,
    ...changes(
      'sub-wallet',
      ofType<Told>('prepared-send', (command) => ({ ...command, idempotency: null, first: null })),
    ),
  },
  {
    what: 'a call is valued at nothing',
    seed: 2,
    ...changes(
      'sub-wallet',
      ofType<Told & { quote: { ok: boolean; valuation: object } }>('prepared-send', (command) => {
        const { quote } = command
        if (!quote.ok) return command
        return {
          ...command,
          quote: { ...quote, valuation: { ...quote.valuation, valueMicros: 0n } },
        }
      }),
    ),
  },
  {
    what: 'a key is revoked in words alone',
    seed: 1,
    ...changes(
      'sub-wallet',
      ofType<Told & { keyId: string; nowMs: number }>('revoke-key', ({ keyId, nowMs }) => ({
        ...{ type: 'patch-key', keyId, patch: {}, claimId: null, nowMs },
      })),
    ),
  },
  { what: 'a freeze stops nothing', seed: 11, ignoresFreezes: true },
  { what: 'an approval leaves before the evidence has it', seed: 17, approvesEarly: true },
  { what: 'evidence is not read at a start of the user side', seed: 17, forgetsEvidence: true },
  { what: 'a dead start takes over from a living one', seed: 6343, takesDeadStarts: true },
  { what: 'an earlier owner of the journal takes over', seed: 7, ignoresLeaders: true },
  { what: 'the record of an approval is not written', seed: 8, ...loses('approvals', 3) },
  { what: 'a call that waits is not listed', seed: 8, ...loses('waitingCalls', 1) },
  { what: 'what policies count is not written', seed: 11, ...loses('policyLedgers', 2) },
  {
    what: 'an approved call is signed before the disk has its nonce',
    seed: 44,
    shell: (shell) => ({
      ...shell,
      startsAtOnce: (effect) => typeOf(effect) === 'sign' || shell.startsAtOnce?.(effect) === true,
    }),
  },
  {
    what: 'nobody is asked about what a policy asks about',
    seed: 8,
    ...policyWithout(({ effect }) => effect === 'require_approval'),
  },
  {
    what: 'a policy counts nothing',
    seed: 11,
    ...policyWithout(({ effect }) => effect === 'deny'),
  },
  {
    what: 'one person counts as two',
    seed: 42,
    shell: (shell) => {
      let people = 0
      const another = changes(
        'sub-wallet',
        ofType<Told & { decision: { decision: string; authorizerId: string | null } }>(
          'decide-approval',
          (command) => {
            const { decision } = command
            const authorizerId = `${decision.authorizerId} ${++people}`
            return { ...command, decision: { ...decision, authorizerId } }
          },
        ),
      )
      return another.shell?.(shell) ?? shell
    },
  },
  {
    what: 'a call is declined in words alone',
    seed: 8,
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        if (shell.kind !== 'sub-wallet') return shell.decide(state, command, token)
        const { txId, decision } = command as { txId: TxId; decision?: { decision: string } }
        const value = (state as SubWalletState).waiting.byTx.get(txId)?.approval
        if (decision?.decision !== 'decline' || token === null || value === undefined) {
          return shell.decide(state, command, token)
        }
        return { events: [], effects: [], replies: [{ token, result: { ok: true, value } }] }
      },
    }),
  },
  {
    what: 'what waits holds nothing',
    seed: 8,
    ...afterEvent('approval-requested', (state) => {
      for (const [lineageId, counters] of state.spend) {
        state.spend.set(lineageId, { ...counters, reservedMicros: 0n })
      }
    }),
  },
  {
    what: 'what a key made counts on itself alone',
    seed: 21,
    ...changes(
      'sub-wallet',
      ofType<Told & { key: { parentLineageId?: string } }>('register-key', (command) => {
        const { parentLineageId: _, ...key } = command.key
        return { ...command, key }
      }),
    ),
  },
  {
    what: 'the caps of keys above are not looked at',
    seed: 55,
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        if (!ASKS_FOR_SPEND.has(typeOf(command))) return shell.decide(state, command, token)
        const { heads, keys } = state as SubWalletState
        const own = keys.get((command as { keyId: KeyId }).keyId)?.lineageId
        const kept = [...heads]
        for (const [lineageId, key] of kept) {
          if (lineageId !== own) heads.set(lineageId, { ...key, ...NO_CAPS })
        }
        const decision = shell.decide(state, command, token)
        for (const [lineageId, key] of kept) heads.set(lineageId, key)
        return decision
      },
    }),
  },
  {
    what: 'the spend of a call comes free in its first block',
    seed: 1,
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        const decision = shell.decide(state, command, token)
        if (shell.kind !== 'sub-wallet' || typeOf(command) !== 'mined') return decision
        const wallet = state as SubWalletState
        const entry = wallet.open.get((command as { txId: TxId }).txId)
        if (entry === undefined || entry.tx.reservation.micros === 0n) return decision
        const { lineageId, reservation } = entry.tx
        settleOnPath(wallet, lineageId, reservation, 0n)
        const nothing = { ...reservation, micros: 0n }
        entry.tx = { ...entry.tx, reservation: nothing, spentMicros: 0n }
        return decision
      },
    }),
  },
  {
    what: 'a call is confirmed in its first block',
    seed: 1,
    ...changes(
      'sub-wallet',
      ofType<Told>('mined', (command) => ({ ...command, type: 'confirmed' })),
    ),
  },
  {
    what: 'what a key made outlives it',
    seed: 148,
    shell: (shell) => ({
      ...shell,
      decide(state, command, token) {
        if (typeOf(command) !== 'revoke-key') return shell.decide(state, command, token)
        const { parents } = state as SubWalletState
        const kept = [...parents]
        parents.clear()
        const decision = shell.decide(state, command, token)
        for (const [child, parent] of kept) parents.set(child, parent)
        return decision
      },
    }),
  },
  {
    what: 'a successor has a cap of its own',
    seed: 17,
    ...afterEvent('rotated', (state) => state.spend.clear()),
  },
  { what: 'the end of a claim does not arrive', seed: 25, ...drops('end-claim') },
  { what: 'an endpoint is not told of events', seed: 21, ...drops('events-appended') },
  { what: 'the state of an endpoint is not written', seed: 6, ...loses('deliveries', 2) },
  {
    what: 'events of a lane are delivered all at once',
    seed: 12,
    ...changes(
      'webhook-endpoint',
      ofType<Told & { events: readonly object[] }>('events-appended', (command) => ({
        ...command,
        events: command.events.map((event) => ({ ...event, laneKey: null })),
      })),
    ),
  },
  {
    what: 'a failed delivery is taken for one that arrived',
    seed: 10,
    ...changes(
      'webhook-endpoint',
      ofType<Told & { outcome: object }>('attempt-finished', (command) => ({
        ...command,
        outcome: { ...command.outcome, kind: 'delivered' },
      })),
    ),
  },
  {
    what: 'the day never turns',
    seed: 8,
    ...clockOf((nowMs, firstMs) => Math.min(nowMs, dayEndMs(utcDay(firstMs)) - 1)),
  },
  { what: 'the day turns early', seed: 1, ...clockOf((nowMs) => nowMs + 600_000) },
  { what: 'a price is kept for good', seed: 8, prices: firstOf },
  {
    what: 'nobody is screened',
    seed: 12,
    screener: (screener) => ({ ...screener, screen: () => ({ outcome: 'clean', lists: [] }) }),
  },
  {
    what: 'nothing is taken up after a start',
    seed: 2,
    shell: ({ resume: _, ...shell }) => shell,
  },
]

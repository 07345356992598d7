import type { CallAtGates } from '../../../actors/sub-wallet/core/call-at-gates.js'
import { duplicateOf } from '../../../actors/sub-wallet/core/decide-send.js'
import { GATES, type Gate } from '../../../actors/sub-wallet/core/lifecycle.js'
import { countersOf, type SubWalletState } from '../../../actors/sub-wallet/core/state.js'
import { Turn } from '../../../actors/sub-wallet/core/turn.js'
import { formatUsd } from '../../domain/money.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { Reader } from '../../store/reader.js'
import type { PastDecision } from './past-decision.js'
import { stateThen } from './state-then.js'

/** The result of one gate in a repeated decision. */
interface ReplayedStep {
  readonly gate: Gate['name']
  readonly result: 'passed' | 'refused' | 'not replayed'
  /** What it judged by, or why it cannot judge. */
  readonly saw: string
}

export interface ReplayedDecision {
  /** A code, or `allowed`. */
  readonly recorded: string
  readonly replayed: string
  readonly same: boolean
  /** The gate at which they differ; null when they agree. */
  readonly differsAt: string | null
  readonly steps: readonly ReplayedStep[]
}

/** Replies of the decision are collected here, so it needs no caller. */
const TOKEN = 1

/**
 * Decides again, with the gates that decide every call.
 * @param gates the present gates
 */
export function replayDecision(
  reader: Reader,
  decision: PastDecision,
  gates: readonly Gate[] = GATES,
): ReplayedDecision {
  const { state, keysUnknown } = stateThen(reader, decision)
  const asked = askedThen(state, decision)
  const turn = new Turn(state, { type: 'resume', nowMs: decision.atMs })
  const recorded = decision.code ?? 'allowed'
  const steps: ReplayedStep[] = []
  for (const gate of gates) {
    const isTheirs = gate.refusals.some((code) => code === decision.code)
    const why = gapAt(gate.name, decision, keysUnknown)
    if (why !== null) {
      steps.push({ gate: gate.name, result: 'not replayed', saw: why })
      if (isTheirs) return { recorded, replayed: recorded, same: true, differsAt: null, steps }
      continue
    }
    const saw = seenBy(gate.name, state, decision)
    const passed = gate.passes(turn, asked)
    steps.push({ gate: gate.name, result: passed ? 'passed' : 'refused', saw })
    if (!passed) {
      const replayed = refusalIn(turn)
      const counts = replayed === recorded ? countersDiffer(turn, decision) : null
      const same = replayed === recorded && counts === null
      const differsAt = same ? null : (counts ?? gate.name)
      return { recorded, replayed, same, differsAt, steps }
    }
    if (isTheirs && decidesAlone(gate.name, decision)) {
      return { recorded, replayed: 'allowed', same: false, differsAt: gate.name, steps }
    }
  }
  // A later refusal, such as a missing signature, belongs to no gate.
  return { recorded, replayed: decision.code ?? 'allowed', same: true, differsAt: null, steps }
}

/** Some codes are used by several gates, and the next gate may be the one. */
function decidesAlone(gate: Gate['name'], { code }: PastDecision): boolean {
  if (code === 'OVERLOADED' || code === 'CHAIN_UNAVAILABLE') return false
  return gate !== 'key' || code === 'PERMISSION_DENIED'
}

function askedThen(state: SubWalletState, decision: PastDecision): CallAtGates {
  const { txId, requestId, keyId, call, atMs: nowMs, valuation, kind, terms } = decision
  return {
    ...{ keyId, nowMs, request: { txId, requestId, keyId, kind, call }, token: TOKEN },
    chainId: call.chainId,
    idempotency: null,
    first: null,
    quoted: null,
    guardsDuplicates: false,
    quote:
      valuation === null
        ? { ok: false, fault: UNVALUED }
        : { ok: true, valuation, exposure: null, unpriced: false },
    sponsoredGasMicros: null,
    screened: null,
    intent: terms,
    hasNonce: true,
    findDuplicate: () => duplicateOf(state, { nowMs, call }),
    ...{ key: null, priced: null, counted: undefined, asks: undefined, admitted: null },
  }
}

const UNVALUED = { code: 'PRICE_UNAVAILABLE', message: 'not valued', details: {} } as const

/** Tells why a gate cannot be evaluated again; null when it can. */
function gapAt(
  gate: Gate['name'],
  { code, reasons, valuation, hasCalldata, kind, terms, lists }: PastDecision,
  keysUnknown: string | null,
): string | null {
  switch (gate) {
    case 'key':
      return keysUnknown
    case 'frozen':
      return reasons.scope === 'instance' ? 'freezes of the whole instance leave no entry' : null
    case 'chain':
      return keysUnknown
    case 'idempotency':
      return 'whether it came with an Idempotency-Key is not kept with the decision'
    case 'duplicate':
      return code === 'DUPLICATE_SUSPECTED'
        ? hasCalldata
          ? null
          : OUTLINE
        : 'whether it came with an Idempotency-Key is not kept with the decision'
    case 'policy':
      if (keysUnknown !== null) return keysUnknown
      if (isSponsored(kind) && terms === null) return 'the terms of an unsigned intent are not kept'
      if (!hasCalldata) return OUTLINE
      return valuation === null ? NOT_VALUED : null
    case 'quote':
      return valuation === null ? NOT_VALUED : null
    case 'swap-loss':
      return isSponsored(kind) ? 'what its output was worth then is not kept' : null
    case 'caps':
      return keysUnknown ?? (valuation === null ? NOT_VALUED : null)
    case 'gas-budget':
      return isSponsored(kind) ? 'what gas of the day was held then is not kept' : null
    case 'screening': {
      const editions = lists?.map(({ list, version }) => `${list} ${version}`).join(', ')
      return editions
        ? `editions of the lists are not kept, only their names: ${editions}`
        : 'no list was asked, or its edition is not kept'
    }
    case 'room':
    case 'approval':
    case 'nonce':
      return null
  }
}

const OUTLINE = 'the trail keeps the calldata of a refused call in outline'
const NOT_VALUED = 'what it was worth is not kept'

function seenBy(gate: Gate['name'], state: SubWalletState, decision: PastDecision): string {
  const { keyId, atMs, call, valuation } = decision
  const key = state.keys.get(keyId)
  switch (gate) {
    case 'key':
      return key === undefined ? 'no such key' : `${keyId}, permission ${key.permission}`
    case 'frozen': {
      const { user = null, wallets, lineages } = state.freezes ?? {}
      const count = (user === null ? 0 : 1) + (wallets?.size ?? 0) + (lineages?.size ?? 0)
      return `${count} freezes of the user's`
    }
    case 'chain':
      return `chain ${call.chainId} of ${key?.allowedChains.join(', ') ?? 'none'}`
    case 'policy':
      return key?.policy == null ? 'no policy' : `${key.policy.rules.length} rules`
    case 'quote':
    case 'gas-budget':
      return valuation === null
        ? 'no value'
        : `${formatUsd(valuation.valueMicros)} USD, and ${formatUsd(valuation.gasMicros)} USD of gas`
    case 'caps': {
      if (key === undefined) return 'no such key'
      const used = countersOf(state, key.lineageId, atMs)
      const cap = (micros: bigint | null) => (micros === null ? 'any' : formatUsd(micros))
      return `${formatUsd(used.dayMicros)} of ${cap(key.dailyLimitMicros)} USD a day, ${formatUsd(used.monthMicros)} of ${cap(key.monthlyLimitMicros)} USD a month, ${formatUsd(used.reservedMicros)} USD of it reserved`
    }
    default:
      return `${state.open.size} calls under way`
  }
}

function refusalIn({ replies }: Turn): string {
  for (const { result } of replies) if (!result.ok) return result.fault.code
  return 'answered'
}

/** The refusal of a cap states the used amounts: other amounts mean another history. */
function countersDiffer({ replies }: Turn, { code, reasons }: PastDecision): string | null {
  if (code !== 'LIMIT_EXCEEDED') return null
  for (const { result } of replies) {
    if (result.ok) continue
    const { details } = result.fault
    for (const name of ['limit_usd', 'used_usd', 'requested_usd']) {
      if (details[name] !== reasons[name]) {
        return `caps: ${name} was ${String(reasons[name])} and is ${String(details[name])}`
      }
    }
  }
  return null
}

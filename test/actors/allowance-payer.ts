import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Event } from '../../actors/sub-wallet/core/messages.js'
import { countersOf, emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { AllowanceAmount, TokenExposure } from '../../src/domain/exposure.js'
import type { Address, KeyId, LineageId, TxId } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import type { Fault } from '../../src/errors/fault.js'
import {
  apiKey,
  GAS_MICROS,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

export const TOKEN: Address = '0x00000000000000000000000000000000000000C1'
export const SPENDER: Address = '0x00000000000000000000000000000000000000A1'
export const OTHER_SPENDER: Address = '0x00000000000000000000000000000000000000A2'
export const OTHER_KEY = 'key_00000000000000000000000009' as KeyId
/** What there is of the token, whose smallest unit is a micro-dollar. */
export const SUPPLY = 1_000_000n
/** What the wallet has of it unless a call says otherwise. */
const BALANCE = 500_000n

export interface Sent {
  readonly txId: TxId
  readonly refusal: Fault | null
  /** What it reserved without its gas. */
  readonly micros: bigint
}

interface Said {
  readonly keyId?: KeyId
  readonly nowMs?: number
  /** Calls under way after which the allowances were read. */
  readonly after?: readonly TxId[]
}

/** A wallet with two keys of their own lineages, which approve and have others pull. */
export class AllowancePayer {
  readonly state: SubWalletState = emptyState(WALLET_ID)
  readonly events: Event[] = []
  #sends = 0

  constructor(key: Partial<ApiKey> = {}) {
    this.#tell({ type: 'create-wallet', wallet })
    this.#tell({ type: 'register-key', key: apiKey({ dailyLimitMicros: 10_000n, ...key }) })
    const other = { keyId: OTHER_KEY, lineageId: OTHER_KEY as string as LineageId }
    this.#tell({ type: 'register-key', key: apiKey({ dailyLimitMicros: 10_000n, ...other }) })
  }

  /** Signed and stored, unless it is refused. */
  approve(amount: bigint, said: Said & Partial<AllowanceAmount> = {}): Sent {
    const { spender = SPENDER, kind = 'erc20' } = said
    return this.#send({ approvals: [{ spender, kind, amount }] }, said)
  }

  /** A call that reaches a spender; it sees `pulled` leave, and `allowed` on chain. */
  pull(pulled: bigint, allowed: bigint, said: Said & { balance?: bigint; spender?: Address } = {}) {
    const { spender = SPENDER, balance = BALANCE } = said
    const standing = [{ spender, kind: 'erc20' as const, amount: allowed }]
    return this.#send({ ran: pulled, standing, balance, puller: spender }, said)
  }

  approvePermit2(amount: bigint, said: Said = {}): Sent {
    return this.#send({ toPermit2: amount }, said)
  }

  /** Admits a call and leaves it there: neither signed nor stored. */
  draft(exposed: Partial<TokenExposure>, said: Said = {}): Sent {
    const { keyId = KEY_ID, nowMs = START_MS, after = null } = said
    const n = ++this.#sends
    const token = {
      token: TOKEN,
      unit: { price: 1n, priceDecimals: 0, decimals: 6 },
      ...{ supply: SUPPLY, balance: BALANCE, ordered: 0n, ran: 0n, toPermit2: 0n },
      ...{ approvals: [], standing: [], openedByOthers: 0n, puller: SPENDER, ...exposed },
    }
    const micros = { otherMicros: 0n, claimedMicros: 0n, nativeMicros: 0n }
    const base = preparedSend(n, 0n, { nowMs, keyId })
    if (!base.quote.ok) throw new Error('no quote')
    const basis = {
      ...base.quote.basis,
      after,
      approvals: token.approvals.map((approval: AllowanceAmount) => ({
        ...approval,
        token: TOKEN,
        owner: wallet.address,
        valueMicros: null,
      })),
    }
    const quote = { ...base.quote, basis, exposure: { ...micros, tokens: [token] } }
    const [reply] = decide(this.state, { ...base, quote }, 1).replies
    if (reply !== undefined) {
      if (reply.result.ok) throw new Error('answered too early')
      return { txId: base.txId, refusal: reply.result.fault, micros: 0n }
    }
    const reservation = this.state.drafts.get(base.txId)?.draft.reservation
    return { txId: base.txId, refusal: null, micros: (reservation?.micros ?? 0n) - GAS_MICROS }
  }

  #send(exposed: Partial<TokenExposure>, said: Said): Sent {
    const sent = this.draft(exposed, said)
    if (sent.refusal === null) this.store(sent.txId, said.nowMs)
    return sent
  }

  store(txId: TxId, nowMs = START_MS): void {
    const clean = { refusal: null, screenedAgainst: [], requoted: null, nowMs }
    this.#tell({ type: 'screened', txId, ...clean })
    const nonce = this.state.drafts.get(txId)?.nonce ?? -1
    const hash = `0x${txId.slice(-4)}` as const
    const signed = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: nowMs }
    this.#tell({ type: 'signed', txId, nonce, signed, nowMs })
  }

  mine({ txId }: Sent, outcome: MinedIn['outcome'] = 'success'): void {
    this.#tell({ type: 'mined', txId, mined: minedAs(txId, outcome), nowMs: START_MS })
  }

  confirm({ txId }: Sent, outcome: MinedIn['outcome'] = 'success'): void {
    this.#tell({ type: 'confirmed', txId, mined: minedAs(txId, outcome), nowMs: START_MS })
  }

  /** Its nonce is used up by bytes that send nothing. */
  mineCancellation({ txId }: Sent): void {
    const hash = '0xcc' as const
    const signed = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: START_MS }
    const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 2n }
    const nonce = this.state.open.get(txId)?.tx.nonce ?? -1
    const replacement = { purpose: 'cancel', nonce, fees, signed, nowMs: START_MS } as const
    this.#tell({ type: 'replacement-signed', txId, ...replacement })
    const mined = { ...minedAs(txId, 'success'), txHash: hash } as const
    this.#tell({ type: 'mined', txId, mined, nowMs: START_MS })
  }

  /** The chain refuses it before anybody has it. */
  drop({ txId }: Sent): void {
    const fault = { code: 'CHAIN_REJECTED', message: 'no', details: {} } as Fault
    const txHash = this.state.open.get(txId)?.tx.attempts[0]?.txHash ?? '0x'
    const outcome = { kind: 'rejected', fault } as const
    this.#tell({
      type: 'broadcast-outcome',
      txId,
      txHash,
      outcome,
      blockNumber: 1,
      nowMs: START_MS,
    })
  }

  used(lineageId: LineageId = LINEAGE_ID): bigint {
    return countersOf(this.state, lineageId, START_MS).dayMicros
  }

  #tell(command: Parameters<typeof decide>[1]): void {
    this.events.push(...decide(this.state, command, null).events)
  }
}

function minedAs(txId: TxId, outcome: MinedIn['outcome']): MinedIn {
  const txHash = `0x${txId.slice(-4)}` as const
  return { txHash, blockNumber: 7, blockHash: '0xb7', outcome, feeWei: 0n }
}

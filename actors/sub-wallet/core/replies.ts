import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Approval } from '../../../src/domain/approval.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { GasUse } from '../../../src/domain/sponsored-gas.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { Ceiling, PolicyEffect } from '../../../src/policy/policy.js'
import type { CapNode } from './caps-above.js'
import type { ClaimAnswer, GrantAnswer, Outdated } from './grant-messages.js'
import type { Sent } from './sent.js'

/** The answers of a sub-wallet by the command that asked for them. No other command is answered. */
export interface SubWalletReplies {
  readonly 'create-wallet': SubWallet
  readonly 'register-key': ApiKey
  readonly 'plan-sub-key': ApiKey
  readonly 'rotate-key': RotatedKeys | Outdated
  readonly 'revoke-key': ApiKey
  readonly 'patch-key': ApiKey | Outdated
  readonly 'read-limits': LimitsAnswer
  readonly 'read-gas': GasUse
  readonly 'claim-grant': ClaimAnswer
  readonly 'await-grant': GrantAnswer
  readonly 'cancel-transaction': Transaction
  readonly 'decide-approval': Approval
  readonly 'withdraw-call': Transaction
  readonly send: Sent
  readonly 'sponsor-call': Sent
}

interface RotatedKeys {
  /** The successor. */
  readonly key: ApiKey
  /** The predecessor in its remaining form. */
  readonly previous: ApiKey
}

export interface PredictedJudgement {
  /** Why the call would be refused; null when it would be allowed. */
  readonly denied: Fault | null
  readonly effect: PolicyEffect
  /** The approval or delay that the call would wait for; null when it would not wait. */
  readonly asks: ApprovalAsked | null
  /** The rule that decides, or the part that decides in its place; null when there is no policy. */
  readonly rule: string | null
  /** Each rule's result. */
  readonly reasons: readonly string[]
}

export interface CeilingUse {
  readonly ceiling: Ceiling
  readonly used: bigint
  readonly resetsAtMs: number
}

/** A key whose caps and policy bind a call, with the used part of them. */
export interface LimitsNode extends CapNode {
  readonly ceilings: readonly CeilingUse[]
}

export interface LimitsAnswer extends LimitsNode {
  /** The operator's gas budgets and their use, for the wallet and for its user. */
  readonly gas: GasUse
  /** The keys above, nearest first. */
  readonly above: readonly LimitsNode[]
  /** The policy's judgement of the call in the request. */
  readonly predicted?: PredictedJudgement
  /**
   * The micro-USD that the forecast call counts for this key; absent when the request has no
   * forecast.
   */
  readonly valueMicros?: UsdMicros
}

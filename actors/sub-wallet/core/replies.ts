import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Approval } from '../../../src/domain/approval.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { Ceiling, PolicyEffect } from '../../../src/policy/policy.js'
import type { CapNode } from './caps-above.js'
import type { ClaimAnswer, GrantAnswer, Outdated } from './grant-messages.js'
import type { Sent } from './sent.js'

/** What a sub-wallet answers, by the command that asked for it. It answers no others. */
export interface SubWalletReplies {
  readonly 'create-wallet': SubWallet
  readonly 'register-key': ApiKey
  readonly 'plan-sub-key': ApiKey
  readonly 'rotate-key': RotatedKeys | Outdated
  readonly 'revoke-key': ApiKey
  readonly 'patch-key': ApiKey | Outdated
  readonly 'read-limits': LimitsAnswer
  readonly 'claim-grant': ClaimAnswer
  readonly 'await-grant': GrantAnswer
  readonly 'cancel-transaction': Transaction
  readonly 'decide-approval': Approval
  readonly 'withdraw-call': Transaction
  readonly send: Sent
  readonly 'sponsor-call': Sent
}

export interface RotatedKeys {
  /** The successor. */
  readonly key: ApiKey
  /** What is left of the predecessor. */
  readonly previous: ApiKey
}

export interface Foreseen {
  /** Why it would be refused; null where it would not. */
  readonly denied: Fault | null
  readonly effect: PolicyEffect
  /** What it would wait for; null: it would not. */
  readonly asks: ApprovalAsked | null
  /** The rule that decides, or what does that is none; null where there is no policy. */
  readonly rule: string | null
  /** What each rule makes of it. */
  readonly reasons: readonly string[]
}

export interface CeilingUse {
  readonly ceiling: Ceiling
  readonly used: bigint
  readonly resetsAtMs: number
}

/** A key whose caps and policy hold for a call, with what has gone of them. */
export interface LimitsNode extends CapNode {
  readonly ceilings: readonly CeilingUse[]
}

export interface LimitsAnswer extends LimitsNode {
  /** The keys above, nearest first. */
  readonly above: readonly LimitsNode[]
  /** What a policy makes of the call that was asked about. */
  readonly foreseen?: Foreseen
  /** What the forecast call counts for this key; absent where none was asked about. */
  readonly valueMicros?: UsdMicros
}

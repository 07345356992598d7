import type { ApprovalTerm } from '../custody/approvals/approval-term.js'
import type { AskedAgain, HoldersNow } from '../domain/approval.js'
import type { ApprovalId, SubWalletId } from '../domain/ids.js'

/** Calls that wait for people: what the identity provider is told of them, and what it answers. */

export interface ApprovalRegistration {
  readonly term: ApprovalTerm
  readonly userId: string
  /**
   * The calldata. For a Router intent its encoding (`encodeRouterIntent`) with any nonce and
   * deadline.
   */
  readonly call: Uint8Array
  /** How many people must approve; 0 when the call only waits for its delay. */
  readonly needed: number
  readonly delaySeconds: number
  /** The rule that requires the approval, shown to people together with the amount. */
  readonly rule: string
  readonly spendUsd: string
  /** The user's label for the beneficiary, at most 128 characters. */
  readonly payeeLabel?: string | null
  /** Why people are asked again; absent or null when this is the first time. */
  readonly askedAgain?: AskedAgain | null
  /** Names shown to people, marked as the service's; absent or null when it has none. */
  readonly names?: CallNames | null
  /** 32 bytes: the live key's `approvalKeyProof`, made at the request. */
  readonly keyProof: Uint8Array
}

/** The service's names for the agent, the wallet and the tokens of a call. */
export interface CallNames {
  /** The API key's name, at most 128 characters. */
  readonly agent: string | null
  readonly wallet: string | null
  /** The tokens that the call moves, at most four. */
  readonly tokens: readonly {
    /** Hex. */
    readonly address: string
    readonly symbol: string
    readonly decimals: number
  }[]
}

export interface ApprovalUpdate {
  /** The term as it was registered. */
  readonly term: ApprovalTerm
  readonly userId: string
  /** Needed by dev's software authorizer, which confirms only for a signed-in user. */
  readonly consoleToken: string
  /** Null until there is one. Its proof is encoded. */
  readonly authorization: { readonly proof: Uint8Array | null } | null
  /** Authorizers (`aut_…`) of people who approved the call earlier. */
  readonly earlier: readonly string[]
}

export interface ApprovalGiven {
  /** `aut_…`; null for dev's software authorizer. */
  readonly authorizerId: string | null
  /** Members of a shared account who may approve with it; null when nobody was ever invited. */
  readonly personIds: readonly string[] | null
  /**
   * The holders of the earlier authorizers in a shared account; absent when nobody was ever
   * invited.
   */
  readonly holdersNow?: HoldersNow
  readonly authorizedBy: 'software' | 'passkey' | 'p256'
  /** The encoded proof, for `SignApproval`. */
  readonly proof: Uint8Array
}

export interface EndedApprovalAt {
  readonly approvalId: ApprovalId
  readonly as: 'declined' | 'withdrawn' | 'expired' | 'dropped'
}

export interface ApprovalDecisions {
  readonly decisions: readonly {
    readonly approvalId: ApprovalId
    readonly subWalletId: SubWalletId
    readonly userId: string
    readonly decision: 'approve' | 'decline'
    /** `aut_…`; null when a sign-in was enough. */
    readonly authorizerId: string | null
    readonly atMs: number
    readonly comment: string | null
    /** The encoded proof; null when the person declined. */
    readonly proof: Uint8Array | null
  }[]
  /** The cursor to pass to the next call. */
  readonly cursor: string
}

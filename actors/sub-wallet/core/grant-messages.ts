import type { ApiKey, KeyPatch } from '../../../src/domain/api-key.js'
import type { CustodyStatus, GrantChange } from '../../../src/domain/grant-change.js'
import type { KeyId } from '../../../src/domain/ids.js'
import type { SubWallet } from '../../../src/domain/wallet.js'

/** What of its keys' grants at the identity provider reaches a sub-wallet, and leaves it. */
export type GrantCommand =
  | ClaimGrant
  | {
      /** The front end gives a claim up. */
      readonly type: 'end-claim'
      readonly claimId: string
      readonly of: Claimed
      /** Whether the identity provider may have taken what was asked of it. */
      readonly taken: 'no' | 'unknown'
      readonly nowMs: number
    }
  /** Answers with the key's custody status, after an attempt where one is due. */
  | { readonly type: 'await-grant'; readonly keyId: KeyId }
  | {
      readonly type: 'grant-answered'
      readonly keyId: KeyId
      readonly version: number
      readonly taken: boolean
    }
  | { readonly type: 'grants-rested' }

/**
 * The front end is about to have the identity provider enlarge a grant or take a successor. Until
 * it commits with the same id or ends the claim, nothing else is told of that lineage.
 */
export interface ClaimGrant {
  readonly type: 'claim-grant'
  readonly claimId: string
  readonly of: Claimed
  readonly nowMs: number
}

/** A key to be enlarged, or the id of one that is to take a key's place. */
export interface Claimed {
  readonly keyId: KeyId
  readonly rotatedFrom: KeyId | null
  /** Of a key to be enlarged: all that is asked for; null for a successor. */
  readonly patch: KeyPatch | null
}

/** The key as the change may rest on it: the one to be enlarged, or the one to be rotated. */
export interface ClaimAnswer {
  readonly key: ApiKey
}

/** What a commit is answered when its claim does not hold any more, or it needs one. */
export interface Outdated {
  readonly outdated: true
}

export interface GrantAnswer {
  readonly custody: CustodyStatus
}

/** The first two are durable. */
export type GrantEvent =
  | {
      readonly type: 'grant-opened'
      readonly change: GrantChange
      /** Null: the change may be told at once. */
      readonly claimId: string | null
    }
  | { readonly type: 'grant-closed'; readonly keyId: KeyId }
  | { readonly type: 'grant-released'; readonly keyId: KeyId }
  | { readonly type: 'grant-sending'; readonly keyId: KeyId }
  | { readonly type: 'grant-sent'; readonly keyId: KeyId; readonly taken: boolean }
  | { readonly type: 'grants-resting'; readonly on: boolean }

export type GrantEffect =
  | {
      readonly type: 'put-grant'
      readonly change: GrantChange
      readonly wallet: SubWallet
      /** Null: there is no such key, and it must not sign. */
      readonly key: ApiKey | null
      /** Attempts that failed before. */
      readonly failures: number
    }
  | { readonly type: 'rest-grants'; readonly delayMs: number }

import type { ApiKey, KeyPatch } from '../../../src/domain/api-key.js'
import type { CustodyStatus, GrantChange } from '../../../src/domain/grant-change.js'
import type { KeyId } from '../../../src/domain/ids.js'
import type { SubWallet } from '../../../src/domain/wallet.js'

/**
 * Commands, events and effects about the grants that the identity provider holds for the
 * sub-wallet's keys.
 */
export type GrantCommand =
  | ClaimGrant
  | {
      /** The front end gives a claim up. */
      readonly type: 'end-claim'
      readonly claimId: string
      readonly of: Claimed
      /** Whether the identity provider may have accepted the requested change. */
      readonly taken: 'no' | 'unknown'
      readonly nowMs: number
    }
  /** Answers with the key's custody status, after an attempt when one is due. */
  | { readonly type: 'await-grant'; readonly keyId: KeyId }
  | {
      readonly type: 'grant-answered'
      readonly keyId: KeyId
      readonly version: number
      readonly taken: boolean
    }
  | { readonly type: 'grants-rested' }

/**
 * The front end is about to ask the identity provider for an enlargement or a successor. Until it
 * commits with the same id or ends the claim, this actor sends nothing about the lineage.
 */
export interface ClaimGrant {
  readonly type: 'claim-grant'
  readonly claimId: string
  readonly of: Claimed
  readonly nowMs: number
}

/** The key to enlarge, or the id of the key that is to be the successor. */
export interface Claimed {
  readonly keyId: KeyId
  readonly rotatedFrom: KeyId | null
  /** The whole requested change of a key to enlarge; null for a successor. */
  readonly patch: KeyPatch | null
}

/** The key that the change starts from: the one to enlarge or the one to rotate. */
export interface ClaimAnswer {
  readonly key: ApiKey
}

/** The answer to a commit whose claim is no longer held, or which needs a claim. */
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
      /** Null when the change may be sent at once. */
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
      /** Null when the key does not exist and must not sign. */
      readonly key: ApiKey | null
      /** The number of failed attempts so far. */
      readonly failures: number
    }
  | { readonly type: 'rest-grants'; readonly delayMs: number }

import type { Freeze, FreezeScope, FrozenBy } from '../../../src/domain/freeze.js'
import type { CustodyStatus } from '../../../src/domain/grant-change.js'
import type { KeyId, LineageId, SubWalletId } from '../../../src/domain/ids.js'
import type { Result } from '../../../src/errors/fault.js'

/** The target of a freeze or of its lifting, after its owner was checked. */
export interface FreezeTarget {
  readonly scope: FreezeScope
  readonly name: string
  readonly subWalletId: SubWalletId | null
  readonly lineageId: LineageId | null
  readonly keyId: KeyId | null
}

export type FreezesCommand =
  | FreezeCommand
  | UnfreezeCommand
  /** Answers whether the identity provider has the freeze, after an attempt when one is due. */
  | { readonly type: 'await-freeze'; readonly name: string }
  | { readonly type: 'notified'; readonly name: string; readonly taken: boolean }
  | { readonly type: 'freezes-rested' }
  | {
      readonly type: 'lifted'
      readonly target: FreezeTarget
      readonly result: Result<Lifted>
      readonly nowMs: number
    }
  /** Loads an actor after a restart; it resumes by itself. */
  | { readonly type: 'load' }
  | { readonly type: 'resume' }

/** Answered with the freeze that is in force from now on. */
export interface FreezeCommand {
  readonly type: 'freeze'
  readonly target: FreezeTarget
  readonly reason: string | null
  readonly by: FrozenBy
  /**
   * The person at the console, for the audit trail; absent when the request did not come from a
   * person.
   */
  readonly byPerson?: string | undefined
  readonly requestId: string
  readonly nowMs: number
}

export interface UnfreezeCommand {
  readonly type: 'unfreeze'
  readonly target: FreezeTarget
  readonly requestId: string
  readonly byPerson?: string | undefined
  readonly consoleToken: string
  readonly authorization: LiftAuthorization | null
}

/** The user's authorization in the form that custody takes; see `GrantAuthorization` there. */
interface LiftAuthorization {
  readonly version: number
  readonly confirmBeforeMs: number
  readonly proof: Uint8Array | null
}

export interface Lifted {
  readonly authorizedBy: 'software' | 'passkey' | 'p256'
}

export interface FreezeAnswer {
  readonly custody: CustodyStatus
}

export type FreezesEvent =
  | {
      readonly type: 'frozen'
      readonly freeze: Freeze
      readonly requestId: string
      readonly byPerson?: string | undefined
    }
  /** The identity provider acknowledged the freeze, or has to be notified again. */
  | { readonly type: 'custody-noted'; readonly freeze: Freeze }
  | {
      readonly type: 'unfrozen'
      readonly freeze: Freeze
      readonly authorizedBy: string
      readonly requestId: string
      readonly byPerson?: string | undefined
      readonly atMs: number
    }

/** The freezes at the time when the effect runs, not when it was decided. */
type Standing = ReadonlyMap<string, Freeze>

export type FreezesEffect =
  /** Runs before the freeze is durable, because it only restricts. */
  | { readonly type: 'stop'; readonly freeze: Freeze; readonly standing: Standing }
  /** Runs once the end of the freeze is durable. */
  | { readonly type: 'go-on'; readonly standing: Standing }
  | { readonly type: 'notify'; readonly freeze: Freeze }
  | { readonly type: 'rest'; readonly delayMs: number }
  | { readonly type: 'lift'; readonly command: UnfreezeCommand }

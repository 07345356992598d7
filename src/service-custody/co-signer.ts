import type { ApprovalTerm } from '../custody/approvals/approval-term.js'
import type { MemberAction } from '../custody/members/member-statement.js'
import type { AskedAgain, HoldersNow } from '../domain/approval.js'
import type { FreezeScope, Freezing } from '../domain/freeze.js'
import type { Address, ApprovalId, Hex, KeyId, LineageId, SubWalletId } from '../domain/ids.js'
import type { GrantedPolicy } from '../domain/key-policy.js'
import type { Role } from '../domain/role.js'
import type { CoSignature } from '../domain/sponsorship.js'
import type { PolicyDenial } from '../quorum-protocol/policy-denial.js'
import type { SignPayload } from '../quorum-protocol/sign-payload.js'

/**
 * The port to the 2-of-2 quorum, as the write path sees it. Behind it stand the share of this
 * service, the identity provider's user-side share and approval, and the quorum signer.
 * `src/custody/README.md` describes the protocol.
 */
export interface CoSigner {
  /**
   * Generates a wallet key split between both domains. Resolves only when both sides hold two
   * durable copies of their share and the wallet certificate is signed by both. Repeating it for
   * the same wallet gives the same address.
   * @throws FaultError COSIGNER_UNAVAILABLE, or OVERLOADED with nothing begun
   */
  createWallet(walletId: SubWalletId, userId: string): Promise<WalletCertificate>
  /**
   * Generates the key of a wallet of the service's own (a gas wallet). It signs under the service
   * grant alone: calls of the Router and type-4 transactions without calldata, value always 0,
   * and its own cancels. Otherwise as `createWallet`.
   * @throws FaultError COSIGNER_UNAVAILABLE, or OVERLOADED with nothing begun
   */
  createServiceWallet(walletId: SubWalletId): Promise<WalletCertificate>
  /**
   * Signs one payload. Calls made while a batch is in flight travel together in the next one.
   * Never rejects for a reason of one intent alone: the outcome says it.
   */
  sign(request: SignRequest): Promise<SignOutcome>
  /**
   * Registers, narrows or ends what a key may do at the identity provider; durable there when it
   * resolves. Repeating it does no harm.
   * @throws FaultError COSIGNER_UNAVAILABLE; PERMISSION_DENIED when the identity provider refuses;
   * AUTHORIZATION_REQUIRED with what has to be confirmed, when an enlargement comes without a
   * proof; AUTHORIZATION_REFUSED when its proof does not verify
   */
  putGrant(grant: GrantUpdate): Promise<GrantOutcome>
  /**
   * Has the identity provider freeze it too; durable there when it resolves. Repeating it does no
   * harm.
   * @throws FaultError COSIGNER_UNAVAILABLE; PERMISSION_DENIED when the identity provider refuses
   */
  freeze(frozen: FrozenSubject): Promise<void>
  /**
   * Has the identity provider lift its freeze, on the proof of the user's authorizer.
   * @throws FaultError as `putGrant`
   */
  unfreeze(update: UnfreezeUpdate): Promise<GrantOutcome>
  /** Refuses what waits for its batch and is new; what has left already the other domains judge. */
  refuseWaiting(stopped: StoppedSubject, since: Pick<Freezing, 'scope' | 'sinceMs'>): void
  /**
   * Tells the identity provider of a call that waits for people or for its time; durable there when it
   * resolves, so that its own page shows it and a delay begins. Repeating it does no harm; with
   * another expiry or more gas it is asked anew, and what was approved before is void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  registerApproval(registration: ApprovalRegistration): Promise<void>
  /**
   * Has a proof of the user's authorizer verified and kept by both domains.
   * @throws FaultError as `putGrant`
   */
  approve(update: ApprovalUpdate): Promise<ApprovalGiven>
  /**
   * Nothing waits any more, or it was signed. What a person ended there stays as it is.
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  endApproval(ended: EndedApprovalAt): Promise<void>
  /**
   * What people decided at the identity provider's own page, oldest first; some at a time.
   * @param after a cursor of before; null: from the first that is kept
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  approvalDecisions(after: string | null): Promise<ApprovalDecisions>
  /**
   * Learns who is a member of which account by now; cheap where nothing changed.
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  followMembers(): Promise<void>
  /**
   * Has somebody invited, let in or removed, or a role changed, at both sides; in force when it resolves.
   * @throws FaultError as `putGrant`; NOT_FOUND; INVALID_REQUEST for what is against the rules
   */
  changeMember(update: MemberUpdate): Promise<MemberOutcome>
  /**
   * The user's authorizers, as this domain verified them.
   * @throws FaultError COSIGNER_UNAVAILABLE, or OVERLOADED with nothing begun
   */
  authorizersOf(userId: string): Promise<AuthorizerList>
  /** True when both other domains answered lately. */
  readonly ready: boolean
  close(): Promise<void>
}

export interface WalletCertificate {
  readonly walletId: SubWalletId
  readonly address: Address
  readonly epoch: number
}

export interface SignRequest {
  readonly walletId: SubWalletId
  /** Null for the service's own wallets. */
  readonly keyId: KeyId | null
  /** 16 bytes, unique per call; logged in both domains' evidence. */
  readonly requestId: Uint8Array
  /**
   * HMAC key derived from the presented API secret (`deriveProofKey`); null for calls no live
   * request is behind: the same payload once more, a fee bump (same call and gas limit, both
   * fees at least as high, the maximum higher), or a cancel (zero-value self-send, empty data).
   */
  readonly proofKey: Uint8Array | null
  /**
   * Intent id (32 bytes) that this payload replaces at the same nonce. Null when the nonce holds
   * nothing yet, or the very same payload.
   */
  readonly replaces: Uint8Array | null
  /**
   * Where a rule asks for an approval or a delay: what was registered with the identity provider
   * (`registerApproval`), which judges the call by it and binds it to the nonce. Then the proof key may
   * be null: the live key's proof came with the registration.
   */
  readonly approval?: SignApproval
  readonly payload: SignPayload
}

export interface SignApproval {
  readonly approvalId: ApprovalId
  readonly expiresAtMs: number
  /** Gas limit × highest fee at the most, of replacements too. */
  readonly maxNativeWei: bigint
  /** The people's, as `approve` returned them; none where the call waited for its time alone. */
  readonly proofs: readonly Uint8Array[]
}

export interface ApprovalRegistration {
  readonly term: ApprovalTerm
  readonly userId: string
  /** Calldata; of a Router intent its encoding (`encodeRouterIntent`), of any nonce and deadline. */
  readonly call: Uint8Array
  /** How many people must approve; 0: it waits for its time alone. */
  readonly needed: number
  readonly delaySeconds: number
  /** For people: the rule that asked, and what it is worth. */
  readonly rule: string
  readonly spendUsd: string
  /** What the user calls the payee, in at most 128 characters. */
  readonly payeeLabel?: string | null
  /** Why people are asked once more; absent or null: they are not. */
  readonly askedAgain?: AskedAgain | null
  /** 32 bytes, `approvalKeyProof` of the live key at the request. */
  readonly keyProof: Uint8Array
}

export interface ApprovalUpdate {
  /** As registered. */
  readonly term: ApprovalTerm
  readonly userId: string
  /** Where dev's software authorizer confirms, which does so for a signed-in user alone. */
  readonly consoleToken: string
  /** Null: none yet. Its proof is encoded. */
  readonly authorization: { readonly proof: Uint8Array | null } | null
  /** Authorizers by which others approved it before: `aut_…`. */
  readonly earlier: readonly string[]
}

export interface ApprovalGiven {
  /** `aut_…`; null: dev's software authorizer. */
  readonly authorizerId: string | null
  /** Persons of a shared account who may approve there by it; null: nobody was invited to it. */
  readonly personIds: readonly string[] | null
  /** Of the earlier ones, in a shared account; absent where nobody was invited. */
  readonly holdersNow?: HoldersNow
  readonly authorizedBy: NonNullable<GrantOutcome['authorizedBy']>
  /** Encoded, for `SignApproval`. */
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
    /** `aut_…`; null: a sign-in there was enough. */
    readonly authorizerId: string | null
    readonly atMs: number
    readonly comment: string | null
    /** Encoded; null of one that declines. */
    readonly proof: Uint8Array | null
  }[]
  /** For the next call. */
  readonly cursor: string
}

export type SignOutcome =
  | {
      readonly ok: true
      /** 65 bytes r ‖ s ‖ yParity, already verified against the wallet's address. */
      readonly signature: Uint8Array
      /** For transactions: the serialised signed bytes and their hash. */
      readonly rawTransaction?: Hex
      readonly txHash?: Hex
      /** 32 bytes; names this approval in later `replaces`. */
      readonly intentId: Uint8Array
      /** Router intents only: over the digest. */
      readonly coSignature?: CoSignature
    }
  | {
      readonly ok: false
      readonly reason: SignRefusal
      /** Set for NONCE_TAKEN: the intent the ledger holds at that nonce. */
      readonly takenBy?: Uint8Array
      /** Set for FROZEN: what the identity provider says is, and since when. */
      readonly frozen?: Pick<Freezing, 'scope' | 'sinceMs'>
      /** For logs alone: the other domain's own code. */
      readonly detail?: string
      /** A public sentence, where there is more to say than the reason does. */
      readonly explanation?: string
      /** Set for a REFUSED by the policy in the grant, as the identity provider judged it. */
      readonly denial?: PolicyDenial
    }

/**
 * UNAVAILABLE: another domain did not answer; whether it approved is unknown.
 * NONCE_TAKEN: the identity provider approved another payload at this nonce.
 * FROZEN: its key, wallet or user is, or the other domain as a whole.
 * UNAPPROVED: too few of those who approved it count there by now, as where one left the account.
 * REFUSED: grant, proof or payload not acceptable to the other domains.
 */
export type SignRefusal = 'UNAVAILABLE' | 'NONCE_TAKEN' | 'FROZEN' | 'UNAPPROVED' | 'REFUSED'

export interface GrantUpdate extends GrantedPolicy {
  readonly keyId: KeyId
  /**
   * Set once, when a rotation makes `keyId`: the key it takes the place of. It shares that key's
   * grant and cannot enlarge it, so put it before the old key's expiry. Null for other changes.
   */
  readonly rotatedFrom: KeyId | null
  readonly walletId: SubWalletId
  readonly userId: string
  /** Key of the proof of the live API key, derived from the secret; null leaves it as it is. */
  readonly proofKey: Uint8Array | null
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAt: number | null
  readonly revoked: boolean
  /**
   * Console token under which the change is asked for; null for changes that only take away,
   * such as a revocation by the operator.
   */
  readonly consoleToken: string | null
  /** Who asked at the console, for the audit trail; absent: nobody there. */
  readonly byPerson?: string | undefined
  /** The lineage of the key that made this one; absent: the user did. */
  readonly parentLineageId?: LineageId | undefined
  /** Set once, when a key makes this one: itself, and what proves its secret. */
  readonly madeBy?: { readonly keyId: KeyId; readonly proofKey: Uint8Array }
  /**
   * Whether it gives anything that was not there before; a new key does, a rotated one or one that
   * a key made never.
   */
  readonly effect: 'enlarges' | 'narrows'
  /** The user's confirmation of an enlargement; null: none yet, or none needed. */
  readonly authorization: GrantAuthorization | null
  /** What the user calls key and wallet, for the page that asks to confirm; no part of what is signed. */
  readonly shownAs?: ShownNames
}

export interface ShownNames {
  readonly key: string
  readonly wallet: string
}

/** A freeze as custody names it: a key with its whole lineage. */
export interface FrozenSubject {
  readonly scope: FreezeScope
  readonly userId: string
  /** Of the sub-wallet, null but for a wallet's. */
  readonly walletId: SubWalletId | null
  /** Null but for a key's. */
  readonly lineageId: LineageId | null
}

/** What a freeze stops: with a key, all that it made. */
export interface StoppedSubject extends Omit<FrozenSubject, 'lineageId'> {
  /** Empty but for a key's. */
  readonly lineageIds: Iterable<LineageId>
}

export interface UnfreezeUpdate extends FrozenSubject {
  readonly consoleToken: string
  /** The user's confirmation; null: none yet. */
  readonly authorization: GrantAuthorization | null
}

/** Answers what AUTHORIZATION_REQUIRED asked for. */
export interface GrantAuthorization {
  /** As asked. */
  readonly version: number
  readonly confirmBeforeMs: number
  /** Encoded proof; null: the user left it with the identity provider. */
  readonly proof: Uint8Array | null
}

export interface GrantOutcome {
  /** Null when nothing was enlarged. */
  readonly authorizedBy: 'software' | 'passkey' | 'p256' | null
}

/** A change of who is a member of an account, as a person asks for it. */
export interface MemberUpdate {
  readonly action: MemberAction
  readonly accountId: string
  /** Whoever asks, whose turn it takes: of an account that is not theirs, too. */
  readonly askedBy: string
  /** E-mail address of an invitation; else the id of the person; of an acceptance empty. */
  readonly who: string
  /** Of an invitation and a change. */
  readonly role: Role | null
  /** Of whoever asks for it. */
  readonly consoleToken: string
  readonly authorization: GrantAuthorization | null
}

export interface MemberOutcome {
  readonly personId: string
  readonly email: string
  /** Who asked for it. */
  readonly byId: string
  readonly role: Role
  /** Null of an invitation. */
  readonly roleBefore: Role | null
  /** Of an invitation; else null. */
  readonly acceptBeforeMs: number | null
  /** Null of what takes away. */
  readonly authorizedBy: GrantOutcome['authorizedBy']
}

export interface AuthorizerList {
  readonly authorizers: readonly ListedAuthorizer[]
  /** Page of the identity provider to add or remove one; null: passkeys are not taken. */
  readonly manageUrl: string | null
}

export interface ListedAuthorizer {
  /** `aut_…` */
  readonly authorizerId: string
  readonly kind: 'passkey' | 'p256'
  readonly label: string
  readonly createdAtMs: number
  /** Base64url; null for a P-256 key. */
  readonly credentialId: string | null
}

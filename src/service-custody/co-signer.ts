import type { FreezeScope, Freezing } from '../domain/freeze.js'
import type { Address, ApprovalId, Hex, KeyId, LineageId, SubWalletId } from '../domain/ids.js'
import type { GrantedPolicy } from '../domain/key-policy.js'
import type { MemberAction } from '../domain/members.js'
import type { Role } from '../domain/role.js'
import type { CoSignature } from '../domain/sponsorship.js'
import type { PolicyDenial } from '../quorum-protocol/policy-denial.js'
import type { SignPayload } from '../quorum-protocol/sign-payload.js'
import type {
  ApprovalDecisions,
  ApprovalGiven,
  ApprovalRegistration,
  ApprovalUpdate,
  EndedApprovalAt,
} from './approval-messages.js'

/**
 * The write path's port to the 2-of-2 quorum. Behind it are this service's share, the identity
 * provider's share and approval, and the quorum signer. `src/custody/README.md` describes the
 * protocol.
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
   * Generates the key of one of the service's own wallets (a gas wallet). It signs only under the
   * service grant: calls of the Router and type-4 transactions without calldata, always with value
   * 0, and its own cancels. In all else it behaves like `createWallet`.
   * @throws FaultError COSIGNER_UNAVAILABLE, or OVERLOADED with nothing begun
   */
  createServiceWallet(walletId: SubWalletId): Promise<WalletCertificate>
  /**
   * Signs one payload. Payloads that arrive while a batch is in flight share the next batch. The
   * promise never rejects because of a single intent; the outcome carries the reason.
   */
  sign(request: SignRequest): Promise<SignOutcome>
  /**
   * Registers, narrows or ends what a key may do at the identity provider. Resolves once the change
   * is durable there. Repeating it does no harm.
   * @throws FaultError COSIGNER_UNAVAILABLE; PERMISSION_DENIED when the identity provider refuses;
   * AUTHORIZATION_REQUIRED with what has to be confirmed, when an enlargement comes without a
   * proof; AUTHORIZATION_REFUSED when its proof does not verify
   */
  putGrant(grant: GrantUpdate): Promise<GrantOutcome>
  /**
   * Freezes the subject at the identity provider too. Resolves once the freeze is durable there.
   * Repeating it does no harm.
   * @throws FaultError COSIGNER_UNAVAILABLE; PERMISSION_DENIED when the identity provider refuses
   */
  freeze(frozen: FrozenSubject): Promise<void>
  /**
   * Lifts the freeze at the identity provider, with a proof by the user's authorizer.
   * @throws FaultError as `putGrant`
   */
  unfreeze(update: UnfreezeUpdate): Promise<GrantOutcome>
  /**
   * Refuses new intents that still wait for a batch. Intents already sent are judged by the other
   * domains.
   */
  refuseWaiting(stopped: StoppedSubject, since: Pick<Freezing, 'scope' | 'sinceMs'>): void
  /**
   * Tells the identity provider about a call that waits for people or for its delay. Resolves once
   * it is durable there, so that the identity provider's page shows the call and its delay begins.
   * Repeating it does no harm. With another expiry or more gas, people are asked again and earlier
   * approvals are void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  registerApproval(registration: ApprovalRegistration): Promise<void>
  /**
   * Has both domains verify and keep a proof by the user's authorizer.
   * @throws FaultError as `putGrant`
   */
  approve(update: ApprovalUpdate): Promise<ApprovalGiven>
  /**
   * Tells the identity provider that a call no longer waits or was signed. A person's own decision
   * to end it stands.
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  endApproval(ended: EndedApprovalAt): Promise<void>
  /**
   * Returns one page of the decisions that people made at the identity provider's page, oldest
   * first.
   * @param after the cursor of the previous answer; null starts with the oldest decision kept
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  approvalDecisions(after: string | null): Promise<ApprovalDecisions>
  /**
   * Fetches changes of account members. It is cheap when nothing has changed.
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  followMembers(): Promise<void>
  /**
   * Invites, admits or removes a member, or changes a role, in both domains. The change is in force
   * when this resolves.
   * @throws FaultError as `putGrant`; NOT_FOUND; INVALID_REQUEST when it breaks a rule of members
   */
  changeMember(update: MemberUpdate): Promise<MemberOutcome>
  /**
   * The user's authorizers, as this domain verified them.
   * @throws FaultError COSIGNER_UNAVAILABLE, or OVERLOADED with nothing begun
   */
  authorizersOf(userId: string): Promise<AuthorizerList>
  /** True when both other domains answered recently. */
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
   * An HMAC key derived from the presented API secret (`deriveProofKey`). It is null when no live
   * request is behind the call: the same payload again, a fee bump (same call and gas limit, both
   * fees at least as high, the maximum higher), or a cancel (zero-value self-send, empty data).
   */
  readonly proofKey: Uint8Array | null
  /**
   * The id (32 bytes) of the intent that this payload replaces at the same nonce. Null when the
   * nonce is unused or holds this very payload.
   */
  readonly replaces: Uint8Array | null
  /**
   * Set when a rule requires an approval or a delay: the registration at the identity provider
   * (`registerApproval`), by which it judges the call and binds it to the nonce. The proof key may
   * then be null, because the live key's proof came with the registration.
   */
  readonly approval?: SignApproval
  readonly payload: SignPayload
}

export interface SignApproval {
  readonly approvalId: ApprovalId
  readonly expiresAtMs: number
  /** Gas limit × the highest fee, including replacements. */
  readonly maxNativeWei: bigint
  /** People's proofs, as `approve` returned them; empty when the call only waited for its delay. */
  readonly proofs: readonly Uint8Array[]
}

export type SignOutcome =
  | {
      readonly ok: true
      /** 65 bytes r ‖ s ‖ yParity, already verified against the wallet's address. */
      readonly signature: Uint8Array
      /** For transactions: the serialised signed bytes and their hash. */
      readonly rawTransaction?: Hex
      readonly txHash?: Hex
      /** Router intents only: the co-signature over the digest. */
      readonly intentId: Uint8Array
      /** Router intents only: over the digest. */
      readonly coSignature?: CoSignature
    }
  | {
      readonly ok: false
      readonly reason: SignRefusal
      /** Set for NONCE_TAKEN: the intent the ledger holds at that nonce. */
      readonly takenBy?: Uint8Array
      /** Set for FROZEN: what the identity provider has frozen, and since when. */
      readonly frozen?: Pick<Freezing, 'scope' | 'sinceMs'>
      /** For logs only: the other domain's error code. */
      readonly detail?: string
      /** A public sentence that says more than the reason. */
      readonly explanation?: string
      /** Set for a REFUSED by the policy in the grant, as the identity provider judged it. */
      readonly denial?: PolicyDenial
    }

/**
 * UNAVAILABLE: another domain did not answer; whether it approved is unknown.
 *
 * NONCE_TAKEN: the identity provider approved another payload at this nonce.
 *
 * FROZEN: the key, its wallet, its user or the whole other domain is frozen.
 *
 * UNAPPROVED: too few of the approvals still count there, for example because a person left the
 * account.
 *
 * REFUSED: the other domains do not accept the grant, proof or payload.
 */
export type SignRefusal = 'UNAVAILABLE' | 'NONCE_TAKEN' | 'FROZEN' | 'UNAPPROVED' | 'REFUSED'

export interface GrantUpdate extends GrantedPolicy {
  readonly keyId: KeyId
  /**
   * Set once, when a rotation makes `keyId`: the key that it replaces. The new key shares that
   * key's grant and cannot enlarge it, so put it before the old key expires. Null for other
   * changes.
   */
  readonly rotatedFrom: KeyId | null
  readonly walletId: SubWalletId
  readonly userId: string
  /**
   * The key that proves the live API key, derived from its secret; null leaves the stored one in
   * place.
   */
  readonly proofKey: Uint8Array | null
  /** Milliseconds since the epoch; null when it does not expire. */
  readonly expiresAt: number | null
  readonly revoked: boolean
  /**
   * The console token of the person who requests the change; null for changes that only take away,
   * such as an operator's revocation.
   */
  readonly consoleToken: string | null
  /**
   * The person who requested it at the console, for the audit trail; absent when there was no
   * person.
   */
  readonly byPerson?: string | undefined
  /** The lineage of the key that made this one; absent when the user made it. */
  readonly parentLineageId?: LineageId | undefined
  /** Set once, when a key makes this one: the maker's id and the proof of its secret. */
  readonly madeBy?: { readonly keyId: KeyId; readonly proofKey: Uint8Array }
  /**
   * Whether the change grants something new. A new key does; a rotated key or one made by a key
   * never does.
   */
  readonly effect: 'enlarges' | 'narrows'
  /** The user's confirmation of an enlargement; null when it is missing or not needed. */
  readonly authorization: GrantAuthorization | null
  /**
   * The user's names for key and wallet, for the page that asks for confirmation. They are not
   * signed.
   */
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
  /** The sub-wallet's id; null unless the scope is a wallet. */
  readonly walletId: SubWalletId | null
  /** Null unless the scope is a key. */
  readonly lineageId: LineageId | null
}

/** What a freeze stops. Freezing a key also stops every key that it made. */
export interface StoppedSubject extends Omit<FrozenSubject, 'lineageId'> {
  /** Empty unless the scope is a key. */
  readonly lineageIds: Iterable<LineageId>
}

export interface UnfreezeUpdate extends FrozenSubject {
  readonly consoleToken: string
  /** The user's confirmation; null until there is one. */
  readonly authorization: GrantAuthorization | null
}

/** Answers what AUTHORIZATION_REQUIRED asked for. */
export interface GrantAuthorization {
  /** The version that AUTHORIZATION_REQUIRED named. */
  readonly version: number
  readonly confirmBeforeMs: number
  /** The encoded proof; null when the user left it with the identity provider. */
  readonly proof: Uint8Array | null
}

export interface GrantOutcome {
  /** Null when nothing was enlarged. */
  readonly authorizedBy: 'software' | 'passkey' | 'p256' | null
}

/** A change of an account's members, as a person requests it. */
export interface MemberUpdate {
  readonly action: MemberAction
  readonly accountId: string
  /**
   * The person who requests the change. Queues are per person, even for another person's account.
   */
  readonly askedBy: string
  /** The e-mail address for an invitation, empty for an acceptance, else the person's id. */
  readonly who: string
  /** The role of an invitation or a change; else null. */
  readonly role: Role | null
  /** The console token of the person who requests it. */
  readonly consoleToken: string
  readonly authorization: GrantAuthorization | null
}

export interface MemberOutcome {
  readonly personId: string
  readonly email: string
  /** The id of the person who requested it. */
  readonly byId: string
  readonly role: Role
  /** Null for an invitation. */
  readonly roleBefore: Role | null
  /** The deadline of an invitation; else null. */
  readonly acceptBeforeMs: number | null
  /** Null for a removal or a narrower role. */
  readonly authorizedBy: GrantOutcome['authorizedBy']
}

export interface AuthorizerList {
  readonly authorizers: readonly ListedAuthorizer[]
  /**
   * The identity provider's page to add or remove authorizers; null when passkeys are not accepted.
   */
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

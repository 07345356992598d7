import type { Address, Hex, KeyId, SubWalletId } from '../domain/ids.js'

/**
 * The port to the 2-of-2 quorum, as the write path sees it. Behind it stand the share of this
 * service, the identity provider's user-side share and approval, and the quorum signer.
 * `src/custody/README.md` describes the protocol.
 */
export interface CoSigner {
  /**
   * Generates a wallet key split between both domains. Resolves only when both sides hold two
   * durable copies of their share and the wallet certificate is signed by both.
   * @throws FaultError COSIGNER_UNAVAILABLE
   */
  createWallet(walletId: SubWalletId, userId: string): Promise<WalletCertificate>
  /**
   * Signs one payload. Calls made while a batch is in flight travel together in the next one.
   * Never rejects for a reason of one intent alone: the outcome says it.
   */
  sign(request: SignRequest): Promise<SignOutcome>
  /** Registers, narrows or ends what a key may do at the identity provider. */
  putGrant(grant: GrantUpdate): Promise<void>
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
  readonly keyId: KeyId
  /** 16 bytes, unique per call; logged in both domains' evidence. */
  readonly requestId: Uint8Array
  /**
   * HMAC key derived from the presented API secret; null for calls no live request stands
   * behind (a fee bump, a cancel), which must name what they replace.
   */
  readonly proofKey: Uint8Array | null
  /** Intent id (32 bytes) that this payload replaces at the same nonce, or null. */
  readonly replaces: Uint8Array | null
  readonly payload: SignPayload
}

/** The three payload types that the quorum signs, and nothing else. */
export type SignPayload = TransactionPayload | AuthorizationPayload | RouterIntentPayload

/** EIP-1559 transaction; also type 4 when `authorizationList` is set (gas wallets). */
export interface TransactionPayload {
  readonly type: 'transaction'
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly authorizationList?: readonly SignedAuthorization[]
}

/** EIP-7702 authorization of our delegate, or of the zero address (undelegate). */
export interface AuthorizationPayload {
  readonly type: 'authorization'
  readonly chainId: number
  readonly nonce: number
  readonly delegate: Address
}

/** EIP-712 `Intent` of the AgentRouter. Field meanings: `src/contracts/README.md`. */
export interface RouterIntentPayload {
  readonly type: 'router-intent'
  readonly chainId: number
  readonly verifyingContract: Address
  readonly intent: Readonly<Record<string, string | bigint | number>>
}

export interface SignedAuthorization {
  readonly chainId: number
  readonly address: Address
  readonly nonce: number
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
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
      /** Router intents only: P-256 co-signature r ‖ s over the digest, low-s. */
      readonly coSignature?: Uint8Array
    }
  | {
      readonly ok: false
      readonly reason: SignRefusal
      /** Set for NONCE_TAKEN: the intent the ledger holds at that nonce. */
      readonly takenBy?: Uint8Array
    }

/**
 * UNAVAILABLE: another domain did not answer; whether it approved is unknown.
 * NONCE_TAKEN: the identity provider approved another payload at this nonce.
 * REFUSED: grant, proof or payload not acceptable to the other domains.
 */
export type SignRefusal = 'UNAVAILABLE' | 'NONCE_TAKEN' | 'REFUSED'

export interface GrantUpdate {
  readonly keyId: KeyId
  readonly walletId: SubWalletId
  readonly userId: string
  readonly permission: 'read' | 'trade'
  readonly allowedChains: readonly number[]
  /** Key of the proof of the live API key, derived from the secret; null leaves it as it is. */
  readonly proofKey: Uint8Array | null
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAt: number | null
  readonly revoked: boolean
  /** Console token under which the change is asked for. */
  readonly consoleToken: string
}

import type { Certificate } from '../../quorum-protocol/keygen.js'
import type { WalletProofs } from './share-copies.js'

export interface SealedShare {
  readonly certificate: Certificate
  readonly sealedShare: Uint8Array
}

export interface WalletRecord extends SealedShare {
  readonly encodedCertificate: Uint8Array
  /** 33 bytes: the wallet's public key. */
  readonly point: Uint8Array
  /** 20 bytes. */
  readonly address: Uint8Array
  /** Null while the key is being generated: it may not sign yet. */
  readonly proofs: WalletProofs | null
  /** The next epoch's share while a refresh is under way. */
  readonly next: (SealedShare & { readonly encodedCertificate: Uint8Array }) | null
}

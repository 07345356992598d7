import { kindByte, kindOf, type WalletKind } from '../keygen.js'
import { bytes, type Codec, integer, orNull, positional } from './codec.js'
import type { Methods } from './method.js'

const KIND: Codec<WalletKind> = {
  encode: kindByte,
  decode: (packed) => kindOf(Number(packed)),
}

const ID = bytes(16)
const HASH = bytes(32)
const POINT = bytes(33)
const P256_SIGNATURE = bytes(64)
const WALLET_SIGNATURE = bytes(65)

/** A key's generation and refresh accept answers with this many fields. */
const FIELDS_MAX = 8

const CERTIFY = positional({
  walletId: ID,
  certificate: bytes(),
  serviceSignature: P256_SIGNATURE,
  selfTest: WALLET_SIGNATURE,
})

/** Generation and refresh of wallet keys; `src/custody/README.md` has the sequence. */
export const WALLETS = {
  'keygen-commit': {
    callClass: 'console',
    admits: 'served-with-space',
    parameters: positional({
      sessionId: ID,
      walletId: ID,
      kind: KIND,
      ownerHash: HASH,
      commitment: HASH,
    }),
    result: positional({ commitment: HASH }, FIELDS_MAX),
  },
  'keygen-reveal': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ sessionId: ID, point: POINT, nonce: HASH }),
    result: positional({ point: POINT, nonce: HASH }, FIELDS_MAX),
  },
  'keygen-prove': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ sessionId: ID, proof: WALLET_SIGNATURE }),
    /** The share is sealed for the quorum signer's boot; `request` approves its self-test. */
    result: positional(
      { proof: WALLET_SIGNATURE, request: P256_SIGNATURE, share: bytes(), boot: ID },
      FIELDS_MAX,
    ),
  },
  'keygen-certify': {
    callClass: 'console',
    admits: 'served',
    parameters: CERTIFY,
    result: positional({ userSignature: P256_SIGNATURE }, FIELDS_MAX),
  },
  'keygen-status': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ walletId: ID }),
    /** Null until the key is certified. */
    result: orNull(
      positional(
        {
          certificate: bytes(),
          serviceSignature: P256_SIGNATURE,
          userSignature: P256_SIGNATURE,
          selfTest: WALLET_SIGNATURE,
        },
        4,
      ),
    ),
  },
  'refresh-begin': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ sessionId: ID, walletId: ID, epoch: integer, commitment: HASH }),
    /** A scalar. */
    result: positional({ part: bytes(32) }, 1),
  },
  'refresh-prepare': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ sessionId: ID, part: bytes(32), nonce: HASH }),
    result: positional({ request: P256_SIGNATURE, share: bytes(), boot: ID }, 3),
  },
  'refresh-certify': {
    callClass: 'console',
    admits: 'served',
    parameters: CERTIFY,
    result: positional({ userSignature: P256_SIGNATURE }, 1),
  },
} as const satisfies Methods

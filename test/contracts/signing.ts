import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { bytesToHex, hexToBytes, type PrivateKeyAccount } from 'viem'
import { routerIntentDigest } from '../../src/contracts/router-intent.js'
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { CoSignature } from '../../src/domain/sponsorship.js'

/** A P-256 co-signer with its public point, as the Router wants it. */
export interface CoSignerKey {
  readonly privateKey: KeyObject
  readonly x: Hex
  readonly y: Hex
}

/** Order of the P-256 group (FIPS 186-5). */
const P256_N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

export function createCoSignerKey(): CoSignerKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  return { privateKey, x: coordinate(x), y: coordinate(y) }
}

/** Over the digest as a message, s below half the group's order. */
export function coSign(key: CoSignerKey, digest: Hex): CoSignature {
  const signature = sign('sha256', hexToBytes(digest), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  const s = BigInt(bytesToHex(signature.subarray(32)))
  const low = s > P256_N / 2n ? withS(signature, P256_N - s) : new Uint8Array(signature)
  return { publicKey: hexToBytes(`0x04${key.x.slice(2)}${key.y.slice(2)}`), signature: low }
}

/** The same signature with the other, malleated s. */
export function flipS({ publicKey, signature }: CoSignature): CoSignature {
  const s = P256_N - BigInt(bytesToHex(signature.subarray(32)))
  return { publicKey, signature: withS(signature, s) }
}

export interface IntentSignatures {
  readonly user: Uint8Array
  readonly co: CoSignature
}

export async function signIntent(
  account: PrivateKeyAccount,
  coSigner: CoSignerKey,
  at: { readonly chainId: number; readonly router: Address },
  intent: RouterIntent,
): Promise<IntentSignatures> {
  const digest = routerIntentDigest(at.chainId, at.router, intent)
  return {
    user: hexToBytes(await account.sign({ hash: digest })),
    co: coSign(coSigner, digest),
  }
}

function withS(signature: Uint8Array, s: bigint): Uint8Array {
  const out = new Uint8Array(signature)
  out.set(hexToBytes(`0x${s.toString(16).padStart(64, '0')}`), 32)
  return out
}

function coordinate(base64Url: string | undefined): Hex {
  return bytesToHex(Buffer.from(base64Url ?? '', 'base64url'))
}

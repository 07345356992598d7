import { createECDH } from 'node:crypto'
import { z } from 'zod'
import { toChecksumAddress } from '../../../src/api/parse-address.js'
import type { Address, Hex } from '../../../src/domain/ids.js'
import { keccak256 } from '../../../src/domain/keccak.js'
import { readJsonFile } from '../home/json-file.js'
import type { DevHome } from '../home/layout.js'

const keyFile = z.object({
  private_key: z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{64}$/)]),
})

/** @returns null before the first start of the home */
export function readDeployerKey(home: DevHome): Hex | null {
  return readJsonFile(home.deployerFile, keyFile)?.private_key ?? null
}

/**
 * Computes the address without a signing library, which takes longer to load than a faucet to pay.
 */
export function addressOfKey(privateKey: Hex): Address {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(Buffer.from(privateKey.slice(2), 'hex'))
  // An uncompressed point: 0x04, then the 64 bytes that the address is the hash of.
  const hash = keccak256(curve.getPublicKey().subarray(1))
  return toChecksumAddress(`0x${Buffer.from(hash.subarray(12)).toString('hex')}`)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { putFile } from '../disk/put-file.js'
import type { Address } from '../domain/ids.js'

/**
 * `gas-wallets.json` in the home: the public addresses of the service's gas wallets by chain id,
 * for the operator, who funds them and lists them as relayers of the Routers.
 */
const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)])
const gasWalletsFile = z.record(z.string().regex(/^\d{1,16}$/), z.array(address).max(64))

const PRIVATE_MODE = 0o600

export type GasWalletsFile = Readonly<Record<string, readonly Address[]>>

export function writeGasWalletsFile(
  home: string,
  wallets: readonly { readonly chainId: number; readonly address: Address }[],
): void {
  const byChain: Record<string, Address[]> = {}
  for (const wallet of wallets) {
    const key = String(wallet.chainId)
    byChain[key] = [...(byChain[key] ?? []), wallet.address]
  }
  putFile(pathIn(home), `${JSON.stringify(byChain, null, 2)}\n`, PRIVATE_MODE)
}

/** @throws Error when the service has not written it yet */
export function readGasWalletsFile(home: string): GasWalletsFile {
  return gasWalletsFile.parse(JSON.parse(readFileSync(pathIn(home), 'utf8')))
}

function pathIn(home: string): string {
  return join(home, 'gas-wallets.json')
}

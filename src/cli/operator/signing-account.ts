import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../domain/ids.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { addressOption } from './open-chains.js'

/**
 * Who signs an operator's transactions. Spec silent: a key comes from a file of its owner's alone or
 * from the environment, never from the command line, which every user of the machine sees. Beside a
 * development instance it is the account that owns its contracts. Whoever keeps the key elsewhere
 * (a multi-signature wallet) takes the transactions of `--dry-run`.
 */
export interface SigningOptions {
  readonly keyFile?: string
  readonly keyEnv?: string
  readonly owner?: string
  readonly dryRun?: boolean
}

export type Signer =
  | { readonly kind: 'account'; readonly address: Address; readonly account: PrivateKeyAccount }
  /** Nothing is sent; the address is whose transactions are planned. */
  | { readonly kind: 'dry-run'; readonly address: Address }

export function addSigningOptions(command: Command): Command {
  return command
    .option('--key-file <path>', 'private key of the sender: a file with mode 0600')
    .option('--key-env <name>', 'environment variable that holds the private key')
    .option('--owner <address>', 'with --dry-run: who will send')
    .option('--dry-run', 'print the transactions and send nothing')
}

/** @throws UsageError when there is nobody to sign, or the key is no key */
export function signerOf(io: Io, home: string, options: SigningOptions): Signer {
  const text = keyText(io, home, options)
  const account = text === null ? null : accountOf(text)
  if (options.dryRun === true) {
    if (options.owner !== undefined)
      return { kind: 'dry-run', address: addressOption(options.owner) }
    if (account !== null) return { kind: 'dry-run', address: account.address }
    throw new UsageError('--dry-run needs --owner, or a key to take the address from')
  }
  if (account === null) {
    throw new UsageError('name the sender with --key-file or --key-env, or use --dry-run')
  }
  if (options.owner !== undefined && addressOption(options.owner) !== account.address) {
    throw new UsageError(`the key is that of ${account.address}, not of --owner`)
  }
  return { kind: 'account', address: account.address, account }
}

/** Of the account that owns a development instance's contracts. */
const DEV_OWNER_FILE = ['chains', 'deployer.json'] as const

function keyText(io: Io, home: string, { keyFile, keyEnv }: SigningOptions): string | null {
  if (keyFile !== undefined) return readKeyFile(keyFile)
  if (keyEnv !== undefined) {
    const text = io.env[keyEnv]
    if (text === undefined) throw new UsageError(`${keyEnv} is not set`)
    return text
  }
  const devOwner = join(home, ...DEV_OWNER_FILE)
  return existsSync(devOwner) ? readKeyFile(devOwner) : null
}

function readKeyFile(path: string): string {
  if (!existsSync(path)) throw new UsageError(`there is no ${path}`)
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new UsageError(`${path} can be read by others: chmod 600 it`)
  }
  return readFileSync(path, 'utf8')
}

/** Hex, or JSON with a `private_key`. The text itself appears in no message. */
function accountOf(text: string): PrivateKeyAccount {
  const [digits] = /(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])/.exec(text) ?? []
  if (digits === undefined) throw new UsageError('the key is not 32 bytes in hex')
  try {
    return privateKeyToAccount(`0x${digits}`)
  } catch {
    throw new UsageError('the key is no secp256k1 private key')
  }
}

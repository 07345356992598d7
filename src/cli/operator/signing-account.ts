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
 * Chooses the account that signs an operator's transactions. Spec silent: a key comes from a file
 * that only its owner can read or from the environment, never from the command line, which every
 * user of the machine sees. For a development instance it is the account that owns its contracts.
 * An operator with the key in another place (a multi-signature wallet) uses the transactions of
 * `--dry-run`.
 */
export interface SigningOptions {
  readonly keyFile?: string
  readonly keyEnv?: string
  readonly owner?: string
  readonly dryRun?: boolean
}

export type Signer =
  | { readonly kind: 'account'; readonly address: Address; readonly account: PrivateKeyAccount }
  /** Nothing is sent; the address is the planned sender. */
  | { readonly kind: 'dry-run'; readonly address: Address }

export function addSigningOptions(command: Command): Command {
  return command
    .option('--key-file <path>', 'private key of the sender: a file with mode 0600')
    .option('--key-env <name>', 'environment variable that holds the private key')
    .option('--owner <address>', 'with --dry-run: the sender')
    .option('--dry-run', 'print the transactions and send nothing')
}

/** @throws UsageError when no signer is named, or its key is malformed */
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
    throw new UsageError(`the key belongs to ${account.address}, not to --owner`)
  }
  return { kind: 'account', address: account.address, account }
}

/** The key file of the account that owns a development instance's contracts. */
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
  if (!existsSync(path)) throw new UsageError(`${path} does not exist`)
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new UsageError(`${path} can be read by others: run chmod 600 on it`)
  }
  return readFileSync(path, 'utf8')
}

/** Reads hex, or JSON with a `private_key`. No message contains the text. */
function accountOf(text: string): PrivateKeyAccount {
  const [digits] = /(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])/.exec(text) ?? []
  if (digits === undefined) throw new UsageError('the key is not 32 bytes in hex')
  try {
    return privateKeyToAccount(`0x${digits}`)
  } catch {
    throw new UsageError('the key is not a secp256k1 private key')
  }
}

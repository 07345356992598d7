import { z } from 'zod'
import { CHAIN_IDS } from '../../src/domain/chains.js'
import { type ConsoleClient, ConsoleRefusal, consoleClient, type DevKey } from './console-client.js'
import type { DevUser } from './dev-user.js'
import { readJsonFile, writeJsonAtomically } from './home/json-file.js'
import { type DevHome, PRIVATE_FILE_MODE } from './home/layout.js'
import { mintConsoleToken } from './mint-console-token.js'

/** Null when the last key has ended and a new one needs the user's own authorizer. */
const devKey = z.object({ key_id: z.string(), secret: z.string() }).nullable()

/** The results of the first start at the console, which later starts reuse. */
const bootstrapFile = z.object({
  sub_wallet_id: z.string(),
  address: z.templateLiteral(['0x', z.string()]),
  keys: z.object({ trade: devKey, read: devKey }),
})
export type Bootstrap = z.infer<typeof bootstrapFile>

export interface BootstrapOptions {
  readonly home: DevHome
  readonly baseUrl: string
  readonly issuer: string
  readonly user: DevUser
}

const WALLET_NAME = 'dev'
export const DAILY_LIMIT_USD = '10000'
export const MONTHLY_LIMIT_USD = '100000'
const REQUEST_TIMEOUT_MS = 30_000
const UNAUTHORIZED = 401

/**
 * One wallet with a trade key and a read key, made once per home. A key that the service no longer
 * accepts (revoked, expired, or its data removed) is replaced when nobody has to confirm that. It
 * is null when the user's own authorizer has to: the rest of the instance works without it.
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrap> {
  const { home, baseUrl, issuer, user } = options
  const stored = readJsonFile(home.devKeysFile, bootstrapFile)
  const [kept, keptRead] = await Promise.all([
    ifTaken(baseUrl, stored?.keys.trade ?? null),
    ifTaken(baseUrl, stored?.keys.read ?? null),
  ])
  if (stored !== null && kept !== null && keptRead !== null) return stored

  const client = consoleClient(baseUrl, await mintConsoleToken({ issuer, ...user }))
  const wallet = (await client.findWallet(WALLET_NAME)) ?? (await client.createWallet(WALLET_NAME))
  const trade = kept ?? (await issue(client, wallet.sub_wallet_id, 'trade'))
  const read = keptRead ?? (await issue(client, wallet.sub_wallet_id, 'read'))
  const made = bootstrapFile.parse({ ...wallet, keys: { trade, read } })
  writeJsonAtomically(home.devKeysFile, made, PRIVATE_FILE_MODE)
  return made
}

/** @returns null when the user's own authorizer has to confirm it */
async function issue(
  client: ConsoleClient,
  subWalletId: string,
  permission: 'trade' | 'read',
): Promise<DevKey | null> {
  try {
    return await client.issueKey({
      name: `dev ${permission}`,
      sub_wallet_id: subWalletId,
      permission,
      daily_limit_usd: DAILY_LIMIT_USD,
      monthly_limit_usd: MONTHLY_LIMIT_USD,
      allowed_chains: CHAIN_IDS,
    })
  } catch (error) {
    if (error instanceof ConsoleRefusal && error.code === 'AUTHORIZATION_REQUIRED') return null
    throw error
  }
}

/** @returns the key, or null when the service does not accept it */
async function ifTaken(baseUrl: string, key: DevKey | null): Promise<DevKey | null> {
  if (key === null) return null
  const { status } = await fetch(`${baseUrl}/api/limits`, {
    headers: { 'x-api-key': key.secret },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  return status === UNAUTHORIZED ? null : key
}

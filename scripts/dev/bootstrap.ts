import { z } from 'zod'
import { CHAIN_IDS } from '../../src/domain/chains.js'
import { type ConsoleClient, consoleClient, type DevKey } from './console-client.js'
import type { DevUser } from './dev-user.js'
import { readJsonFile, writeJsonAtomically } from './home/json-file.js'
import { type DevHome, PRIVATE_FILE_MODE } from './home/layout.js'
import { mintConsoleToken } from './mint-console-token.js'

/** What the first start makes through the console, and later starts find again. */
const bootstrapFile = z.object({
  sub_wallet_id: z.string(),
  address: z.templateLiteral(['0x', z.string()]),
  keys: z.object({
    trade: z.object({ key_id: z.string(), secret: z.string() }),
    read: z.object({ key_id: z.string(), secret: z.string() }),
  }),
})
export type Bootstrap = z.infer<typeof bootstrapFile>

export interface BootstrapOptions {
  readonly home: DevHome
  readonly baseUrl: string
  readonly issuer: string
  readonly user: DevUser
}

const WALLET_NAME = 'dev'
const DAILY_LIMIT_USD = '10000'
const MONTHLY_LIMIT_USD = '100000'
const REQUEST_TIMEOUT_MS = 30_000

/**
 * One wallet with a trade key and a read key, made once per home. Keys that the service no longer
 * knows (revoked, or its data removed) are issued anew.
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrap> {
  const { home, baseUrl, issuer, user } = options
  const stored = readJsonFile(home.devKeysFile, bootstrapFile)
  if (stored !== null && (await keysWork(baseUrl, stored))) return stored

  const client = consoleClient(baseUrl, await mintConsoleToken({ issuer, ...user }))
  const wallet = (await client.findWallet(WALLET_NAME)) ?? (await client.createWallet(WALLET_NAME))
  const trade = await issue(client, wallet.sub_wallet_id, 'trade')
  const read = await issue(client, wallet.sub_wallet_id, 'read')
  const made = bootstrapFile.parse({ ...wallet, keys: { trade, read } })
  writeJsonAtomically(home.devKeysFile, made, PRIVATE_FILE_MODE)
  return made
}

function issue(
  client: ConsoleClient,
  subWalletId: string,
  permission: 'trade' | 'read',
): Promise<DevKey> {
  return client.issueKey({
    name: `dev ${permission}`,
    sub_wallet_id: subWalletId,
    permission,
    daily_limit_usd: DAILY_LIMIT_USD,
    monthly_limit_usd: MONTHLY_LIMIT_USD,
    allowed_chains: CHAIN_IDS,
  })
}

async function keysWork(baseUrl: string, { keys }: Bootstrap): Promise<boolean> {
  const answers = await Promise.all(
    [keys.trade, keys.read].map(({ secret }) =>
      fetch(`${baseUrl}/api/limits`, {
        headers: { 'x-api-key': secret },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      }),
    ),
  )
  return answers.every(({ status }) => status === 200)
}

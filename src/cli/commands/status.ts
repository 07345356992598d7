import type { Command } from 'commander'
import { ConnectionError } from '../../client/errors.js'
import { agentClient, type GlobalOptions, serviceUrl } from '../connection.js'
import { EXIT } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord } from '../print.js'

const TIMEOUT_MS = 5_000

export function register(program: Command, io: Io): void {
  program
    .command('status')
    .description('show whether the service is up, and what this key sees')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const url = serviceUrl(io, options)
      const readiness = await readReadiness(url)
      const client = agentClient(io, options)
      const [{ chains }, wallet, limits] = await Promise.all([
        client.getSupportedChains(),
        client.getWalletAddress(),
        client.getLimits(),
      ])
      const value = {
        url,
        status: readiness.status,
        address: wallet.addresses.evm,
        sub_wallet_id: wallet.sub_wallet_id,
        chains: chains.map(({ name }) => name).join(', '),
        daily_usd: `${limits.daily_used_usd} of ${limits.daily_limit_usd}`,
        monthly_usd: `${limits.monthly_used_usd} of ${limits.monthly_limit_usd}`,
      }
      printRecord(
        io,
        options,
        options.json === true ? { url, ...readiness, ...wallet, chains, limits } : value,
      )
      if (readiness.status !== 'ready') process.exitCode = EXIT.unavailable
    })
}

async function readReadiness(url: string): Promise<{ readonly status: string }> {
  try {
    const response = await fetch(new URL('/readyz', url), {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return (await response.json()) as { status: string }
  } catch (cause) {
    throw new ConnectionError(`no service answers at ${url}`, { cause })
  }
}

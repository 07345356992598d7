import { Command } from 'commander'
import { VERSION } from '../api/version.js'
import { ServiceError } from '../client/errors.js'
import { register as authorizer } from './commands/authorizer.js'
import { register as bench } from './commands/bench.js'
import { register as completion } from './commands/completion.js'
import { register as contracts } from './commands/contracts.js'
import { register as custody } from './commands/custody.js'
import { register as gasWallets } from './commands/gas-wallets.js'
import { register as keys } from './commands/keys.js'
import { register as limits } from './commands/limits.js'
import { register as lists } from './commands/lists.js'
import { register as send } from './commands/send.js'
import { register as start } from './commands/start.js'
import { register as status } from './commands/status.js'
import { register as swap } from './commands/swap.js'
import { register as tx } from './commands/tx.js'
import { register as verifyAudit } from './commands/verify-audit.js'
import { register as wallets } from './commands/wallets.js'
import { register as webhooks } from './commands/webhooks.js'
import { exitCodeOf } from './exit-codes.js'
import type { Io } from './io.js'

/** One file per command: to add one, add its file and its line here. */
const COMMANDS = [
  start,
  status,
  wallets,
  keys,
  authorizer,
  limits,
  send,
  swap,
  tx,
  webhooks,
  lists,
  custody,
  contracts,
  gasWallets,
  verifyAudit,
  bench,
  completion,
]

const AFTER_HELP = `
Environment: COUNTERSIGN_URL, COUNTERSIGN_API_KEY (agent), COUNTERSIGN_TOKEN (console),
COUNTERSIGN_HOME, COUNTERSIGN_ISSUER (the identity provider), COUNTERSIGN_AUTHORIZER_PASSPHRASE.
Beside a development instance none is needed.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 unavailable (trying again can help).`

export function createProgram(io: Io): Command {
  const program = new Command('countersign')
    .description('A custodial wallet for fleets of AI agents.')
    .version(VERSION)
    .option('--json', 'print JSON')
    .option('--url <url>', 'address of the service')
    .option('--home <directory>', 'home of the service')
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
  for (const register of COMMANDS) register(program, io)
  inheritSettings(program)
  return program
}

/** Commander copies these to a subcommand only when they are set before it is made. */
function inheritSettings(parent: Command): void {
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent)
    inheritSettings(child)
  }
}

/** @returns the exit code */
export async function runProgram(io: Io, args: readonly string[]): Promise<number> {
  const program = createProgram(io)
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    const code = exitCodeOf(error)
    if (!isCommander(error))
      io.err(errorText(error, program.opts<{ json?: boolean }>().json === true))
    return code
  }
}

function isCommander(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.')
}

function errorText(error: unknown, json: boolean): string {
  if (json && error instanceof ServiceError) {
    const { code, message, details, requestId } = error
    return `${JSON.stringify({ error: { code, message, details, request_id: requestId } })}\n`
  }
  const message = error instanceof Error ? error.message : String(error)
  if (json) return `${JSON.stringify({ error: { code: 'CLIENT', message, details: {} } })}\n`
  if (!(error instanceof ServiceError)) return `countersign: ${message}\n`
  const details =
    Object.keys(error.details).length > 0 ? `\n  ${JSON.stringify(error.details)}` : ''
  return `countersign: ${message}${details}\n  request ${error.requestId}\n`
}

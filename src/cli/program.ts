import { Command } from 'commander'
import { VERSION } from '../api/version.js'
import { ServiceError } from '../client/errors.js'
import { AGENT_COMMANDS } from './agent-commands.js'
import { exitCodeOf } from './exit-codes.js'
import type { Io } from './io.js'

interface CommandFile {
  readonly register: (program: Command, io: Io) => void
}

type Loaders = Readonly<Record<string, () => Promise<CommandFile>>>

const freezes = () => import('./commands/freezes.js')

/**
 * One file per command, named like it. To add a command, add its file and its line here, under the
 * heading of its users. Commands of agents' operations come from the operations table. A file is
 * imported only when its command is used: loading all of them takes longer than most commands run.
 */
const COMMANDS = {
  'To begin:': {
    start: () => import('./commands/start.js'),
    restart: () => import('./commands/restart.js'),
    status: () => import('./commands/status.js'),
    login: () => import('./commands/login.js'),
    logout: () => import('./commands/logout.js'),
  },
  'Owners, after a login:': {
    wallets: () => import('./commands/wallets.js'),
    keys: () => import('./commands/keys.js'),
    freeze: freezes,
    unfreeze: freezes,
    breakers: () => import('./commands/user-breakers.js'),
    members: () => import('./commands/members.js'),
    authorizer: () => import('./commands/authorizer.js'),
    approvals: () => import('./commands/approvals.js'),
    webhooks: () => import('./commands/webhooks.js'),
    events: () => import('./commands/events.js'),
    policy: () => import('./commands/policy.js'),
    rules: () => import('./commands/rules.js'),
    audit: () => import('./commands/audit.js'),
  },
  'Operators, on the machine:': {
    live: () => import('./commands/live.js'),
    doctor: () => import('./commands/doctor.js'),
    users: () => import('./commands/users.js'),
    lists: () => import('./commands/lists.js'),
    custody: () => import('./commands/custody.js'),
    backup: () => import('./commands/backup.js'),
    cluster: () => import('./commands/cluster.js'),
    contracts: () => import('./commands/contracts.js'),
    'gas-wallets': () => import('./commands/gas-wallets.js'),
    retention: () => import('./commands/retention.js'),
    replay: () => import('./commands/replay.js'),
    'verify-audit': () => import('./commands/verify-audit.js'),
  },
  'Agents, with an API key:': {
    balances: () => import('./commands/balances.js'),
    swap: () => import('./commands/swap.js'),
    tx: () => import('./commands/tx.js'),
  },
  'Other:': {
    bench: () => import('./commands/bench.js'),
    completion: () => import('./commands/completion.js'),
  },
} as const satisfies Readonly<Record<string, Loaders>>
const AGENTS: keyof typeof COMMANDS = 'Agents, with an API key:'
const HEADINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(COMMANDS).flatMap(([heading, commands]) =>
    Object.keys(commands).map((name) => [name, heading] as const),
  ),
)
const agentOperations = () => import('./commands/agent-operations.js')
const LOADERS: Loaders = {
  ...Object.assign({}, ...Object.values(COMMANDS)),
  ...Object.fromEntries(
    Object.values(AGENT_COMMANDS).flatMap((name) =>
      name === null ? [] : [[name, agentOperations]],
    ),
  ),
}
/** This command prints the names of all others. */
const COMPLETION = 'completion'

const AFTER_HELP = `
Environment: COUNTERSIGN_URL, COUNTERSIGN_API_KEY (agent), COUNTERSIGN_TOKEN (console),
COUNTERSIGN_HOME, COUNTERSIGN_ISSUER (the identity provider), COUNTERSIGN_AUTHORIZER_PASSPHRASE.
After countersign login, and with a development instance, none is needed.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 unavailable (trying again can help).`

function createProgram(io: Io): Command {
  return new Command('countersign')
    .description('A custodial wallet for fleets of AI agents.')
    .version(VERSION)
    .option('--json', 'print JSON')
    .option('--url <url>', 'address of the service')
    .option('--home <directory>', 'home of the service')
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
}

/** Adds the requested command; all commands for help, for completion, and for an unknown name. */
async function addCommands(program: Command, io: Io, args: readonly string[]): Promise<void> {
  const [name = ''] = program.parseOptions([...args]).operands
  const asked = name !== COMPLETION && Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined
  const loaders = asked === undefined ? [...new Set(Object.values(LOADERS))] : [asked]
  const files = await Promise.all(loaders.map((load) => load()))
  for (const { register } of files) register(program, io)
  for (const command of program.commands) {
    command.helpGroup(HEADINGS.get(command.name()) ?? AGENTS)
  }
  inheritSettings(program)
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
    await addCommands(program, io, args)
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

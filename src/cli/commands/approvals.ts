import type { Command } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { ID_PREFIX, isId } from '../../domain/ids.js'
import { approveCall, declineCall, showCall } from '../approve-call.js'
import { type AuthorizerOptions, connectAuthorizers } from '../authorizer-client.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRecord, printRows } from '../print.js'

const COLUMNS = ['approval_id', 'status', 'spend_usd', 'call', 'agent', 'rule', 'expires_at']
const ISSUER = ['--issuer <url>', 'address of the identity provider'] as const

type ApproveOptions = AuthorizerOptions & { readonly key?: string; readonly yes?: boolean }

export function register(program: Command, io: Io): void {
  const approvals = program
    .command('approvals')
    .description(
      'calls of your API keys that wait for your approval, at the identity provider (sign-in)',
    )
  approvals
    .command('list')
    .description('list from the service, newest first (console token)')
    .option('--status <status>', 'pending, approved, declined, expired or withdrawn')
    .option('--limit <count>', 'how many, 1 to 100', integerOption)
    .option('--cursor <cursor>', 'next_cursor of the previous page')
    .action(async (given: ConsoleInput<'list_approvals'>, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listApprovals(given)
      const rows = value.approvals.map((one) => ({
        ...one,
        call: one.call.in_words,
        agent: one.key_name,
      }))
      printRows(io, options, value, rows, COLUMNS)
      if (value.next_cursor !== null) io.err(`more: --cursor ${value.next_cursor}\n`)
    })
  approvals
    .command('show')
    .description('describe one call, as the identity provider decodes it')
    .argument('<approval_id>')
    .option(...ISSUER)
    .action(async (id: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      printRecord(io, options, await showCall(client, approvalId(id)))
    })
  approvals
    .command('approve')
    .description('approve one call with a P-256 key on this machine')
    .argument('<approval_id>')
    .option('--key <file>', 'the key to sign with (default: your key on this machine)')
    .option('--yes', 'sign it without asking')
    .option(...ISSUER)
    .action(async (id: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<ApproveOptions>()
      const client = await connectAuthorizers(io, options)
      const how = { keyFile: options.key ?? null, sign: options.yes === true }
      printRecord(io, options, await approveCall(io, client, approvalId(id), how))
    })
  approvals
    .command('decline')
    .description('decline one call permanently')
    .argument('<approval_id>')
    .option('--comment <text>', 'a reason for the agent', '')
    .option(...ISSUER)
    .action(async (id: string, { comment }: { readonly comment: string }, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      printRecord(io, options, await declineCall(client, approvalId(id), comment))
    })
}

function approvalId(id: string): string {
  if (isId(ID_PREFIX.approval, id)) return id
  throw new UsageError(`"${id}" is not an approval id: apr_ and 26 characters`)
}

import { type Command, Option } from 'commander'
import { toJsonSchema } from '../../api/json-schema.js'
import type { OperationRow } from '../../api/operation-row.js'
import { type OperationName, operations } from '../../api/operations.js'
import { sendTransactionInput } from '../../api/transaction.js'
import type { Client } from '../../client/client.js'
import { transferCall } from '../../client/transfer.js'
import { DRILLS } from '../../domain/drill.js'
import { AGENT_COMMANDS } from '../agent-commands.js'
import { agentClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import { followTransaction, TRANSACTION_COLUMNS } from '../follow-transaction.js'
import type { Io } from '../io.js'
import { CHAIN_HELP, chainOption, integerOption } from '../options.js'
import { printRecord, printRows, type Row } from '../print.js'
import { TOKEN_HELP, tokensNamed } from '../token-named.js'

/** A field of an operation's input, and its option. */
interface Field {
  readonly name: string
  readonly option: Option
}

interface Given extends Row {
  readonly idempotencyKey?: string
  readonly fault?: string
  readonly wait?: boolean
}

/** The options of `send` and `simulate` that replace calldata: an amount of a token by name. */
interface GivenTransfer {
  readonly chain?: number
  readonly to?: string
  readonly token?: string
  readonly amount?: string
}

/** Makes commands from the operations table, with an option for each field of the input. */
export function register(program: Command, io: Io): void {
  for (const row of operations) {
    const name = AGENT_COMMANDS[row.name]
    if (name !== null) registerOperation(program, io, name, row)
  }
}

function registerOperation(
  program: Command,
  io: Io,
  name: string,
  row: OperationRow & { readonly name: OperationName },
): void {
  const fields = fieldsOf(row)
  const list = listOf(row)
  const command = program
    .command(name)
    .summary(row.title.replace(/^[A-Z][a-z]*\b/, (word) => word.toLowerCase()))
    .description(row.description)
  for (const { option } of fields) command.addOption(option)
  const isCall = row.input === sendTransactionInput
  if (isCall) addTransferOptions(command)
  if (row.movesValue) {
    command
      .option('--idempotency-key <key>', 'same key = same payment; reuse it when retrying')
      .option('--wait', 'wait until it is confirmed')
      .addOption(
        new Option('--fault <fault>', 'test environments only: the fault to inject').choices(
          DRILLS,
        ),
      )
  }
  command.action(async (given: Given) => {
    const options = command.optsWithGlobals<GlobalOptions>()
    const client = agentClient(io, options)
    const { idempotencyKey, fault, wait } = given
    const fieldsGiven = await inputOf(client, fields, given)
    const input = isCall ? { ...fieldsGiven, ...(await transferOf(client, given)) } : fieldsGiven
    const answer = await client.call(row.name, input, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(fault === undefined ? {} : { fault }),
    })
    if (row.movesValue) {
      const record =
        wait === true ? await followTransaction(io, client, String(answer.tx_id)) : answer
      printRecord(io, options, record, TRANSACTION_COLUMNS)
      return
    }
    const rows = list === null ? null : answer[list]
    if (Array.isArray(rows)) printRows(io, options, answer, rows, Object.keys(rows[0] ?? {}))
    else printRecord(io, options, answer)
  })
}

/** Returns the field that holds an answer's list, if the answer has nothing else but its chain. */
function listOf({ output }: OperationRow): string | null {
  const { properties = {} } = toJsonSchema(output, 'output') as ObjectSchema
  const [only, ...others] = Object.entries(properties).filter(([name]) => name !== 'chain_id')
  return only?.[1].type === 'array' && others.length === 0 ? only[0] : null
}

function fieldsOf({ input }: OperationRow): readonly Field[] {
  const { properties = {}, required = [] } = toJsonSchema(input, 'input') as ObjectSchema
  return Object.entries(properties).map(([name, { type, description }]) => {
    const isRequired = required.includes(name)
    if (name === 'chain_id') return { name, option: chain().makeOptionMandatory(isRequired) }
    const flagName = `--${name.replaceAll('_', '-')}`
    const flag = type === 'boolean' ? flagName : `${flagName} <${name}>`
    const option = new Option(flag, name === 'token' ? TOKEN_HELP : description)
    option.makeOptionMandatory(isRequired)
    return { name, option: type === 'integer' ? option.argParser(integerOption) : option }
  })
}

function chain(): Option {
  return new Option('--chain <chain>', CHAIN_HELP).argParser(chainOption)
}

function addTransferOptions(command: Command): void {
  command
    .addOption(
      new Option('--token <token>', `transfer a token to --to: ${TOKEN_HELP}`).conflicts([
        'data',
        'value',
      ]),
    )
    .option('--amount <amount>', 'with --token: the amount in units of the token, such as 0.25')
}

/**
 * Resolves a transfer.
 * @returns null when no token is named
 * @throws UsageError when the token or the amount is missing or cannot be resolved
 */
async function transferOf(client: Client, given: Given & GivenTransfer) {
  const { token, amount } = given
  if (token === undefined && amount === undefined) return null
  if (token === undefined || amount === undefined) {
    throw new UsageError('A transfer needs both --token and --amount.')
  }
  const lookups = {
    chains: () => client.getSupportedChains(),
    native: (chain_id: number) => client.getNativeBalance({ chain_id }),
    tokens: (chain_id: number) => client.getTokenBalances({ chain_id }),
  }
  const { chain: chainId = 0, to = '' } = given
  try {
    return await transferCall({ chain: chainId, to, token, amount }, lookups)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<
    Record<string, { readonly type?: string; readonly description?: string }>
  >
  readonly required?: readonly string[]
}

async function inputOf(client: Client, fields: readonly Field[], given: Given): Promise<Row> {
  const input = Object.fromEntries(
    fields
      .map(({ name, option }) => [name, given[option.attributeName()]] as const)
      .filter(([, value]) => value !== undefined),
  )
  const { chain_id: chainId, token } = input
  if (typeof chainId !== 'number' || typeof token !== 'string') return input
  const [address] = await tokensNamed(client, chainId, [token])
  return { ...input, token: address }
}

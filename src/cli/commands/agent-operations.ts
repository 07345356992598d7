import { type Command, Option } from 'commander'
import { toJsonSchema } from '../../api/json-schema.js'
import type { OperationRow } from '../../api/operation-row.js'
import { type OperationName, operations } from '../../api/operations.js'
import { DRILLS } from '../../domain/drill.js'
import { AGENT_COMMANDS } from '../agent-commands.js'
import { agentClient, type GlobalOptions } from '../connection.js'
import { followTransaction, TRANSACTION_COLUMNS } from '../follow-transaction.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRecord, printRows, type Row } from '../print.js'

/** A field of an operation's input, and the option that gives it. */
interface Field {
  readonly name: string
  readonly option: Option
}

interface Given extends Row {
  readonly idempotencyKey?: string
  readonly fault?: string
  readonly wait?: boolean
}

/** Commands read from the operations table: an option for each field of the input. */
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
  if (row.movesValue) {
    command
      .option('--idempotency-key <key>', 'same key = same payment; reuse it when retrying')
      .option('--wait', 'until it is confirmed')
      .addOption(
        new Option('--fault <fault>', 'of a test environment: what is to go wrong').choices(DRILLS),
      )
  }
  command.action(async (given: Given) => {
    const options = command.optsWithGlobals<GlobalOptions>()
    const client = agentClient(io, options)
    const { idempotencyKey, fault, wait } = given
    const answer = await client.call(row.name, inputOf(fields, given), {
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

/** The field that an answer is a list of, if it says no more than which chain's. */
function listOf({ output }: OperationRow): string | null {
  const { properties = {} } = toJsonSchema(output, 'output') as ObjectSchema
  const [only, ...others] = Object.entries(properties).filter(([name]) => name !== 'chain_id')
  return only?.[1].type === 'array' && others.length === 0 ? only[0] : null
}

function fieldsOf({ input }: OperationRow): readonly Field[] {
  const { properties = {}, required = [] } = toJsonSchema(input, 'input') as ObjectSchema
  return Object.entries(properties).map(([name, { type, description }]) => {
    const flag = name === 'chain_id' ? '--chain <id>' : `--${name.replaceAll('_', '-')} <${name}>`
    const option = new Option(flag, description).makeOptionMandatory(required.includes(name))
    return { name, option: type === 'integer' ? option.argParser(integerOption) : option }
  })
}

interface ObjectSchema {
  readonly properties?: Readonly<
    Record<string, { readonly type?: string; readonly description?: string }>
  >
  readonly required?: readonly string[]
}

function inputOf(fields: readonly Field[], given: Given): Row {
  return Object.fromEntries(
    fields
      .map(({ name, option }) => [name, given[option.attributeName()]] as const)
      .filter(([, value]) => value !== undefined),
  )
}

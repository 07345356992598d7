import type { Input } from '../api.js'
import { parseUnits } from '../parts/money.js'

export const PATH = '/api/v1/agent/keys/:key_id/policy/test'
export type TestedCall = Input<'POST', typeof PATH>['calls'][number]
export const OPERATIONS = [
  ...(['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'] as const),
] satisfies readonly TestedCall['operation'][]

const NATIVE_DECIMALS = 18
/** ERC-7528. */
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** The call that the form "Test a call" describes. */
export function callOf(form: FormData): TestedCall {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const operation = OPERATIONS.find((one) => one === text('operation')) ?? 'send'
  return {
    operation,
    chain_id: Number(text('chain')),
    to: text('to'),
    value: parseUnits(text('value'), NATIVE_DECIMALS) ?? '0',
    data: text('data') === '' ? '0x' : text('data'),
    ...tokenOutOf(text('token_out')),
  }
}

/** Absent where nothing was typed: no condition on what comes in holds then. */
function tokenOutOf(typed: string): Pick<TestedCall, 'token_out'> {
  if (typed === '') return {}
  return { token_out: typed === 'native' ? NATIVE : typed }
}

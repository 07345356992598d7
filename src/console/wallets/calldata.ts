/** The few token calls that people make by hand; programs encode all others. */

export interface ByHandCall {
  readonly to: string
  readonly data: string
}

const TRANSFER = '0xa9059cbb'
const APPROVE = '0x095ea7b3'
const SET_APPROVAL_FOR_ALL = '0xa22cb465'
/** Permit2's approve(token, spender, amount, expiration). */
const PERMIT2_APPROVE = '0x87517c45'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** @param amount smallest units, decimal */
export function transferCall(token: string, to: string, amount: string): ByHandCall {
  return { to: token, data: `${TRANSFER}${word(to)}${numberWord(amount)}` }
}

interface EndedAllowance {
  readonly token: string
  readonly spender: string
  readonly kind: string
  readonly token_id: string | null
}

/** @returns null if no single call ends it */
export function endingCall({ token, spender, kind, token_id }: EndedAllowance): ByHandCall | null {
  switch (kind) {
    case 'erc20':
      return { to: token, data: `${APPROVE}${word(spender)}${numberWord('0')}` }
    case 'erc721':
      if (token_id === null) return null
      return { to: token, data: `${APPROVE}${word(ZERO_ADDRESS)}${numberWord(token_id)}` }
    case 'collection':
      return { to: token, data: `${SET_APPROVAL_FOR_ALL}${word(spender)}${numberWord('0')}` }
    case 'permit2': {
      const nothing = numberWord('0')
      return {
        to: PERMIT2,
        data: `${PERMIT2_APPROVE}${word(token)}${word(spender)}${nothing}${nothing}`,
      }
    }
    default:
      return null
  }
}

function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function numberWord(amount: string): string {
  return BigInt(amount).toString(16).padStart(64, '0')
}

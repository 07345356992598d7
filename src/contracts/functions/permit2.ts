import { approval, type ContractFunction, outflow, simulated } from './contract-function.js'

/** Uniswap's Permit2: allowances of its own, and transfers by signature. */
export const PERMIT2_FUNCTIONS: readonly ContractFunction[] = [
  approval(
    '87517c45',
    'approve(address token, address spender, uint160 amount, uint48 expiration)',
    { of: 'permit2', asset: 'permit2', token: 0, spender: 1, amount: 2 },
  ),
  approval(
    '2b67b570',
    'permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 deadline) _, bytes:opaque signature)',
    { of: 'permit2', asset: 'permit2', owner: 0, token: 1, amount: 2, spender: 5 },
  ),
  outflow('36c78516', 'transferFrom(address from, address to, uint160 amount, address token)', {
    of: 'permit2',
    owner: 0,
    amount: 2,
    token: 3,
  }),
  simulated(
    '0d58b1db',
    'transferFrom((address from, address to, uint160 amount, address token)[] _)',
  ),
  // The signed amount, of which the spender may take less
  outflow(
    '30f28b7a',
    'permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 amount) transferDetails, address owner, bytes:opaque signature)',
    { of: 'permit2', owner: 6, token: 0, amount: 1 },
  ),
  outflow(
    '137c29fe',
    'permitWitnessTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 amount) transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes:opaque signature)',
    { of: 'permit2', owner: 6, token: 0, amount: 1 },
  ),
]

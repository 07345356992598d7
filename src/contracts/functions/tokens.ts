import { approval, type ContractFunction, items, outflow, simulated } from './contract-function.js'

/** ERC-20 and its permits, ERC-677, ERC-777, ERC-1363, ERC-721, ERC-1155, wrapped native. */
export const TOKEN_FUNCTIONS: readonly ContractFunction[] = [
  outflow('a9059cbb', 'transfer(address to, uint256 amount)', { amount: 1, alone: true }),
  outflow('23b872dd', 'transferFrom(address from, address to, uint256 amount)', {
    owner: 0,
    amount: 2,
    alone: true,
  }),
  approval('095ea7b3', 'approve(address spender, uint256 amount)', {
    asset: 'token-or-item',
    spender: 0,
    amount: 1,
    alone: true,
  }),
  // OpenZeppelin before version 5
  approval('39509351', 'increaseAllowance(address spender, uint256 added)', {
    asset: 'token-or-item',
    spender: 0,
    amount: 1,
    alone: true,
  }),
  simulated('a457c2d7', 'decreaseAllowance(address spender, uint256 removed)'),
  // EIP-2612
  approval(
    'd505accf',
    'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    { asset: 'token', owner: 0, spender: 1, amount: 2, alone: true },
  ),
  // DAI's own permit, before EIP-2612
  approval(
    '8fcbaf0c',
    'permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
    { asset: 'token', owner: 0, spender: 1, amount: { flag: 4 }, alone: true },
  ),
  // EIP-3009, with the signature as v, r, s and as bytes
  outflow(
    'e3ee160e',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    { owner: 0, amount: 2, alone: true },
  ),
  outflow(
    'cf092995',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes:opaque signature)',
    { owner: 0, amount: 2, alone: true },
  ),
  outflow(
    'ef55bec6',
    'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    { owner: 0, amount: 2, alone: true },
  ),
  outflow(
    '88b7ab63',
    'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes:opaque signature)',
    { owner: 0, amount: 2, alone: true },
  ),
  // ERC-677 and ERC-1363 call the receiver afterwards
  outflow('4000aea0', 'transferAndCall(address to, uint256 value, bytes data)', { amount: 1 }),
  outflow('1296ee62', 'transferAndCall(address to, uint256 value)', { amount: 1 }),
  outflow('c1d34b89', 'transferFromAndCall(address from, address to, uint256 value, bytes data)', {
    owner: 0,
    amount: 2,
  }),
  outflow('d8fbe994', 'transferFromAndCall(address from, address to, uint256 value)', {
    owner: 0,
    amount: 2,
  }),
  approval('cae9ca51', 'approveAndCall(address spender, uint256 value, bytes data)', {
    asset: 'token-or-item',
    spender: 0,
    amount: 1,
  }),
  approval('3177029f', 'approveAndCall(address spender, uint256 value)', {
    asset: 'token-or-item',
    spender: 0,
    amount: 1,
  }),
  // ERC-777
  outflow('9bd9bbc6', 'send(address to, uint256 amount, bytes data)', { amount: 1 }),
  outflow('fe9d9303', 'burn(uint256 amount, bytes data)', { amount: 0 }),
  approval('959b8c3f', 'authorizeOperator(address operator)', {
    asset: 'token',
    spender: 0,
    amount: 'all',
  }),
  outflow('42966c68', 'burn(uint256 amount)', { amount: 0 }),
  outflow('79cc6790', 'burnFrom(address account, uint256 amount)', { owner: 0, amount: 1 }),
  // ERC-721 and ERC-1155
  items('42842e0e', 'safeTransferFrom(address from, address to, uint256 id)', 0),
  items('b88d4fde', 'safeTransferFrom(address from, address to, uint256 id, bytes data)', 0),
  items(
    'f242432a',
    'safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
    0,
  ),
  items(
    '2eb2c2d6',
    'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
    0,
  ),
  approval('a22cb465', 'setApprovalForAll(address operator, bool approved)', {
    asset: 'collection',
    spender: 0,
    amount: { flag: 1 },
  }),
  // WETH10
  simulated('b760faf9', 'depositTo(address to)'),
  outflow('205c2878', 'withdrawTo(address to, uint256 amount)', { amount: 1 }),
]

import { type Shape, shape } from '../shape.js'

/** ERC-20 and its permits, ERC-721, ERC-1155, wrapped native, Permit2. */
export const TOKEN_SHAPES: readonly Shape[] = [
  shape('a9059cbb', 'transfer(address to, uint256 amount)'),
  shape('23b872dd', 'transferFrom(address from, address to, uint256 amount)'),
  shape('095ea7b3', 'approve(address spender, uint256 amount)'),
  shape('39509351', 'increaseAllowance(address spender, uint256 added)'),
  shape('a457c2d7', 'decreaseAllowance(address spender, uint256 removed)'),
  shape(
    'd505accf',
    'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  ),
  // DAI's own permit, before EIP-2612
  shape(
    '8fcbaf0c',
    'permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
  ),
  // EIP-3009, with the signature as bytes and as v, r, s
  shape(
    'cf092995',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes:opaque signature)',
  ),
  shape(
    'e3ee160e',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ),
  shape(
    'ef55bec6',
    'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ),
  // ERC-677 and ERC-1363
  shape('4000aea0', 'transferAndCall(address to, uint256 value, bytes data)'),
  shape('cae9ca51', 'approveAndCall(address spender, uint256 value, bytes data)'),
  shape('42842e0e', 'safeTransferFrom(address from, address to, uint256 id)'),
  shape('b88d4fde', 'safeTransferFrom(address from, address to, uint256 id, bytes data)'),
  shape('a22cb465', 'setApprovalForAll(address operator, bool approved)'),
  shape(
    'f242432a',
    'safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  ),
  shape(
    '2eb2c2d6',
    'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
  ),
  shape('b760faf9', 'depositTo(address to)'),
  shape('205c2878', 'withdrawTo(address to, uint256 amount)'),
  // Permit2
  shape('36c78516', 'transferFrom(address from, address to, uint160 amount, address token)'),
  shape('0d58b1db', 'transferFrom((address from, address to, uint160 amount, address token)[] _)'),
  shape(
    '30f28b7a',
    'permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 amount) transferDetails, address owner, bytes:opaque signature)',
  ),
  shape('87517c45', 'approve(address token, address spender, uint160 amount, uint48 expiration)'),
  shape(
    '2b67b570',
    'permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 deadline) _, bytes:opaque signature)',
  ),
]

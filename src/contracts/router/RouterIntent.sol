// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @notice What a sub-wallet agrees to: pay `amountIn` of one asset into one call to one venue, and
/// hold at least `minOut` more of another asset afterwards. The output always goes to `account`.
/// @dev Every field is one that the Router enforces. Native currency is the ERC-7528 address.
struct Intent {
    /// The sub-wallet: pays, signs and receives.
    address account;
    /// Asset pulled from the account.
    address tokenIn;
    /// Smallest units of `tokenIn`, the fee included.
    uint256 amountIn;
    /// Fee in basis points of `amountIn`, taken in `tokenIn`, rounded down.
    uint16 feeBps;
    /// Asset whose balance at the account must grow; never `tokenIn`.
    address tokenOut;
    /// Smallest units of `tokenOut`; never 0.
    uint256 minOut;
    /// Venue that is called.
    address target;
    /// Unordered, per account; consecutive numbers share a storage word and cost the least.
    uint256 nonce;
    /// Unix seconds up to which the intent is valid, by the block's clock.
    uint48 deadline;
    /// keccak256 of the calldata for `target`. In the EIP-712 type this is `bytes data`, which
    /// encodes to the same word, so that a signer sees the call and not its hash.
    bytes32 dataHash;
}

/// @notice secp256k1 signature in the 64-byte form of EIP-2098.
struct UserSignature {
    bytes32 r;
    bytes32 vs;
}

/// @notice P-256 signature with low s, over sha256(digest): what ECDSA with SHA-256 makes of the
/// 32-byte digest as its message, so that keys in an HSM or KMS can sign without a raw mode; and the
/// public key that it verifies by, which must be a co-signer's.
struct CoSignature {
    bytes32 x;
    bytes32 y;
    bytes32 r;
    bytes32 s;
}

/// @title EIP-712 digest of an Intent
/// @notice The one definition that Router and delegate share. Both compute the digest on their
/// own, so that the delegate needs to believe nothing the Router says about it.
library RouterIntent {
    /// @dev ERC-7528 address of the chain's native currency.
    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    string internal constant NAME = "Countersign AgentRouter";
    string internal constant VERSION = "1";

    bytes32 internal constant TYPEHASH =
        keccak256(
            "Intent(address account,address tokenIn,uint256 amountIn,uint16 feeBps,address tokenOut,uint256 minOut,address target,uint256 nonce,uint48 deadline,bytes data)"
        );

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    /// @dev The chain id is read at each use: after a fork, intents of the other side do not hold.
    function digest(Intent calldata intent, address router) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256(bytes(NAME)),
                keccak256(bytes(VERSION)),
                block.chainid,
                router
            )
        );
        return
            MessageHashUtils.toTypedDataHash(domain, keccak256(abi.encode(TYPEHASH, intent)));
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

import {IAgentDelegate} from "./IAgentDelegate.sol";
import {Intent, RouterIntent, UserSignature} from "./RouterIntent.sol";

/// @title Code that a sub-wallet delegates to (EIP-7702)
/// @notice Purpose: let the Router take the input of an intent out of a sub-wallet that holds no
/// native currency, and nothing else. It has no storage, no initializer, no owner and no way to
/// make the account call a stranger.
///
/// Threat assumptions:
/// - The account's own key stays the highest authority: it can always send plain transactions or
///   delegate elsewhere. This code only adds a power, and that power needs the key's signature.
/// - The Router is not believed about signatures. A faulty or hostile Router can take nothing that
///   the account did not sign for this Router on this chain. It is believed about replay, expiry
///   and the co-signature, which it checks; this code keeps no state that could check them.
/// - Anyone may call any function here at any time, also before the account first delegates: there
///   is nothing to front-run, because there is nothing to initialise.
/// - Moving on: a successor is a new delegate with a new Router. The account signs one EIP-7702
///   authorization for it, and from then on the old Router can pull nothing.
contract AgentDelegate is IAgentDelegate, IERC1271, ERC721Holder, ERC1155Holder {
    using SafeERC20 for IERC20;

    /// @dev EIP-1271: returned for anything but a valid signature.
    bytes4 private constant INVALID_SIGNATURE = 0xffffffff;

    /// @notice The only caller that may pull.
    address public immutable ROUTER;

    error OnlyRouter(address caller);
    error NotThisAccount(address account);
    error InvalidUserSignature();
    error NativeTransferFailed();

    constructor(address router) {
        ROUTER = router;
    }

    /// @notice Plain transfers of native currency are accepted, within the 2,300 gas stipend.
    receive() external payable {}

    /// @inheritdoc IAgentDelegate
    function pull(Intent calldata intent, UserSignature calldata signature) external {
        require(msg.sender == ROUTER, OnlyRouter(msg.sender));
        require(intent.account == address(this), NotThisAccount(intent.account));
        bytes32 digest = RouterIntent.digest(intent, ROUTER);
        (address signer, , ) = ECDSA.tryRecover(digest, signature.r, signature.vs);
        require(signer == address(this), InvalidUserSignature());

        if (intent.tokenIn == RouterIntent.NATIVE) {
            (bool sent, ) = ROUTER.call{value: intent.amountIn}("");
            require(sent, NativeTransferFailed());
        } else {
            IERC20(intent.tokenIn).safeTransfer(ROUTER, intent.amountIn);
        }
    }

    /// @notice EIP-1271, so that contracts which look for code before they recover a signature
    /// (permits, Permit2) keep accepting what the account's key signed.
    /// @dev No account nesting (ERC-7739) is needed: signer and account are one address, so a
    /// signature cannot be carried over to another account of the same key.
    function isValidSignature(
        bytes32 hash,
        bytes calldata signature
    ) external view returns (bytes4) {
        (address signer, , ) = ECDSA.tryRecoverCalldata(hash, signature);
        return signer == address(this) ? IERC1271.isValidSignature.selector : INVALID_SIGNATURE;
    }
}

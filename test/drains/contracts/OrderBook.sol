// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice An exchange for orders that their owners signed by a call: CoW Protocol's
/// `setPreSignature`, and 0x's `preSign`, which logs nothing, and `registerAllowedOrderSigner`.
/// Anybody may fill an order, and its price here is nothing.
contract OrderBook {
    mapping(bytes32 => bool) public isSigned;
    mapping(address => mapping(address => bool)) public isSigner;

    event PreSignature(address indexed owner, bytes orderUid, bool signed);

    /// @param orderUid token, amount and receiver of the order, ABI-encoded
    function setPreSignature(bytes calldata orderUid, bool signed) external {
        isSigned[keccak256(abi.encode(msg.sender, orderUid))] = signed;
        emit PreSignature(msg.sender, orderUid, signed);
    }

    function preSign(bytes32 orderHash) external {
        isSigned[keccak256(abi.encode(msg.sender, orderHash))] = true;
    }

    function registerAllowedOrderSigner(address signer, bool allowed) external {
        isSigner[msg.sender][signer] = allowed;
    }

    function fill(address owner, bytes calldata orderUid) external {
        bool signed = isSigned[keccak256(abi.encode(owner, orderUid))] ||
            isSigned[keccak256(abi.encode(owner, keccak256(orderUid)))] ||
            isSigner[owner][msg.sender];
        require(signed, "not signed");
        (address token, uint256 amount, address receiver) = abi.decode(
            orderUid,
            (address, uint256, address)
        );
        IERC20(token).transferFrom(owner, receiver, amount);
    }
}

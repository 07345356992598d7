// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A proxy whose code anybody may change; without any it takes every call and does nothing.
contract Chameleon {
    address public implementation;

    function become(address implementation_) external {
        implementation = implementation_;
    }

    receive() external payable {}

    fallback() external payable {
        if (implementation == address(0)) return;
        (bool success, ) = implementation.delegatecall(msg.data);
        require(success, "delegatecall");
    }
}

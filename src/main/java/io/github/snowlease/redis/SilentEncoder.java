package io.github.snowlease.redis;

import io.lettuce.core.protocol.CommandEncoder;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.EncoderException;
import java.util.Collection;

/**
 * Encodes commands as Lettuce's own does, and keeps them out of the log. Lettuce's prints at TRACE
 * every byte that it sends: passwords and tokens too.
 */
final class SilentEncoder extends CommandEncoder {
  /** Puts one into each connection. */
  static final NettyCustomizer CUSTOMIZER =
      new NettyCustomizer() {
        @Override
        public void afterChannelInitialized(Channel channel) {
          channel.pipeline().replace(CommandEncoder.class, "silent-encoder", new SilentEncoder());
        }
      };

  @Override
  protected void encode(ChannelHandlerContext context, Object message, ByteBuf out) {
    try {
      if (message instanceof RedisCommand<?, ?, ?> command) {
        command.encode(out);
      } else if (message instanceof Collection<?> commands) {
        for (Object command : commands) {
          ((RedisCommand<?, ?, ?>) command).encode(out);
        }
      }
    } catch (RuntimeException e) {
      // Half a command may have gone out already: whatever came after it would be misread.
      var unused = context.close();
      throw new EncoderException("a command cannot be encoded", e);
    }
  }
}
